"""From a string to terms: normalise, tokenise, stop words, stems, n-grams, term matrices."""
