// Draws each chart from the specification beside it. `ast` makes Vega interpret its expressions
// rather than compile them, which the page's content security policy forbids.
const options = {
  actions: false,
  ast: true,
  defaultStyle: false,
  renderer: "svg",
  tooltip: { disableDefaultStyle: true },
};

async function draw(place) {
  const spec = document.querySelector(`script[data-spec="${place.dataset.chart}"]`);
  try {
    await vegaEmbed(place, JSON.parse(spec.textContent), options);
    place.dataset.state = "drawn";
  } catch (error) {
    place.dataset.state = "failed";
    place.textContent = "This chart could not be drawn; its counts are in the tables.";
    console.error(place.dataset.chart, error);
  }
}

document.querySelectorAll("[data-chart]").forEach(draw);
