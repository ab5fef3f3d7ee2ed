package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
)

// newProxy returns a reverse proxy to the servers in turn.
func newProxy(upstreams []*url.URL, stderr io.Writer) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConnsPerHost = 256
	// What the server sends passes as it is, compressed or not.
	transport.DisableCompression = true

	var next atomic.Uint64
	logger := log.New(stderr, "gateway: ", 0)
	return &httputil.ReverseProxy{
		Transport:     quietTransport{transport},
		FlushInterval: -1, // each piece goes on at once
		ErrorLog:      logger,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstreams[(next.Add(1)-1)%uint64(len(upstreams))])
			r.SetXForwarded()
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return // the client is gone
			}
			logger.Print(err)
			badGateway(w)
		},
	}
}

// apiError is an error in the form of the OpenAI API.
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func badGateway(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	code := "bad_gateway"
	_ = json.NewEncoder(w).Encode(map[string]apiError{"error": {Message: "the upstream server could not be reached", Type: "upstream_error", Code: &code}})
}
