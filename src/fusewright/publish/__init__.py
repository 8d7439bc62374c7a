"""From judged problems to a release: rows, selection, statistics, card, folder, Hub."""
