"""Module classes of `transformers`: text that stands alone, vendored with licence and version.

`source` yields what `data/transformers.jsonl` holds, and needs no transformers. `vendor` writes
that file anew from an installed transformers, which it reads and never imports whole: `library`
finds definitions, `arguments` spells a configuration out as constructor arguments, `excerpt`
gathers what a class needs, `trial` runs it in a process of its own, and `kinship` drops what
computes the same.
"""
