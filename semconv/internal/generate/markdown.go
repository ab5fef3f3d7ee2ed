package main

func markdown(r *registry) []byte { return []byte("# Telemetry\n") }
