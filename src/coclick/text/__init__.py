"""Turn strings into terms: normalisation, tokenizer, stop words, stemming, n-grams, term matrices."""
