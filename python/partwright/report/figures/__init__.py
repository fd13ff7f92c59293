"""A topic's figures a module: an answer in, and the document of it out."""
