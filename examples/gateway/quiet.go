package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// quietTransport keeps what a server sent out of errors, which are logged: of an
// answer that is not HTTP net/http quotes the line it could not read, and that
// can be what the model wrote.
type quietTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t quietTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return resp, quiet(err)
	}
	// The body of an upgraded connection is written to as well.
	if resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = quietBody{resp.Body}
	}
	return resp, nil
}

type quietBody struct{ io.ReadCloser }

func (b quietBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	return n, quiet(err)
}

// quiet returns err if its text is known to quote nothing.
func quiet(err error) error {
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil, err == io.EOF, err == io.ErrUnexpectedEOF, err == context.Canceled: //nolint:errorlint // the proxy compares them
		return err
	case errors.As(err, &op), errors.As(err, &certificate), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errBrokeOff
	}
	return fmt.Errorf("the answer of the server could not be read (%T)", err)
}

var errBrokeOff = errors.New("the connection to the server broke off")
