from fusewright.measure.isolation import PROMISES, gaps


def test_what_does_not_hold_is_named_in_one_line():
    held = {**dict.fromkeys(PROMISES, True), "files": False}
    del held["signals"]

    assert gaps(held) == "candidates are not isolated in: files, signals"


def test_nothing_is_said_where_all_holds():
    assert gaps(dict.fromkeys(PROMISES, True)) == ""
