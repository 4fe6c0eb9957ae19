"""coclick inside other libraries' pipelines; each module needs the library that it is named after."""
