package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
)

const defaultEndpoint = "http://localhost:4317"

// target is where a signal goes. The three exporters read the environment in
// three ways (unix: and host:port do not work for logs, INSECURE overrides
// http:// for the other two, a certificate that cannot be read is left out), so
// this package reads it for them.
type target struct {
	address     string // as gRPC takes it
	credentials credentials.TransportCredentials
}

// targetOf returns where a signal goes: to endpoint if that is not empty, else as
// the environment says.
func targetOf(signal, endpoint string) (target, error) {
	if err := checkProtocol(signal); err != nil {
		return target{}, err
	}
	name := "WithEndpoint"
	if endpoint == "" {
		name, endpoint = firstEnv(signalEnv(signal, "ENDPOINT")...)
	} else if !strings.HasPrefix(endpoint, "http://") && !strings.HasPrefix(endpoint, "https://") {
		return target{}, badEndpoint(name, endpoint, nil)
	}
	if endpoint == "" {
		endpoint = defaultEndpoint
	}
	address, plain, err := parseEndpoint(endpoint, func() bool {
		_, v := firstEnv(signalEnv(signal, "INSECURE")...)
		return strings.EqualFold(v, "true")
	})
	if err != nil {
		return target{}, badEndpoint(name, endpoint, err)
	}
	if plain {
		return target{address, insecure.NewCredentials()}, nil
	}
	cfg, err := tlsConfig(signal)
	if err != nil {
		return target{}, err
	}
	return target{address, credentials.NewTLS(cfg)}, nil
}

func badEndpoint(name, value string, err error) error {
	msg := fmt.Sprintf("otlp: %s is %q, want a URL such as %s", name, value, defaultEndpoint)
	if err != nil {
		return fmt.Errorf("%s: %w", msg, err)
	}
	return errors.New(msg)
}

// parseEndpoint returns the address and whether it is used without TLS. For an
// endpoint that does not say, plainEnv does.
func parseEndpoint(endpoint string, plainEnv func() bool) (address string, plain bool, err error) {
	scheme, _, isURL := strings.Cut(endpoint, "://")
	switch scheme = strings.ToLower(scheme); {
	case isURL && (scheme == "http" || scheme == "https"):
		u, err := url.Parse(endpoint)
		switch {
		case err != nil:
			return "", false, err
		case u.Hostname() == "":
			return "", false, errors.New("no host")
		case u.Port() == "" && scheme == "http": // gRPC would take 443
			return "", false, errors.New("no port")
		case u.Port() != "" && !validPort(u.Port()):
			return "", false, errors.New("no such port")
		}
		return u.Host, scheme == "http", nil
	case isURL && scheme != "":
		if resolver.Get(scheme) == nil { // gRPC would take the whole for a host's name
			return "", false, fmt.Errorf("unknown scheme %q", scheme)
		}
		return endpoint, scheme == "unix" || plainEnv(), nil
	case strings.HasPrefix(endpoint, "unix:"):
		return endpoint, true, nil
	}
	host, port, err := net.SplitHostPort(endpoint)
	switch {
	case err != nil:
		return "", false, err
	case strings.ContainsAny(host, "/ "):
		return "", false, errors.New("not a host")
	case !validPort(port):
		return "", false, errors.New("no such port")
	}
	return endpoint, plainEnv(), nil
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// tlsConfig returns what the environment says about TLS for a signal.
func tlsConfig(signal string) (*tls.Config, error) {
	cfg := &tls.Config{}
	if name, file := firstEnv(signalEnv(signal, "CERTIFICATE")...); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("otlp: %s: %w", name, err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("otlp: %s is %q, want a file of PEM certificates", name, file)
		}
	}
	certName, cert := firstEnv(signalEnv(signal, "CLIENT_CERTIFICATE")...)
	keyName, key := firstEnv(signalEnv(signal, "CLIENT_KEY")...)
	switch {
	case cert != "" && key == "":
		return nil, fmt.Errorf("otlp: %s is %q, want the file of its key in OTEL_EXPORTER_OTLP_CLIENT_KEY too", certName, cert)
	case cert == "" && key != "":
		return nil, fmt.Errorf("otlp: %s is %q, want the file of its certificate in OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE too", keyName, key)
	case cert != "":
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("otlp: %s, %s: %w", certName, keyName, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
