"""Facts of the service, written once: assets, words, endpoints, products, sentences."""
