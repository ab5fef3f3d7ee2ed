package simengine

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// Token is one token that was put out.
type Token struct {
	ID      int
	Text    string
	LogProb float64
}

const vocabulary = 151_936

// Tokenize cuts a text into tokens: each word and each mark is one.
func Tokenize(text string) []int {
	var ids []int
	for _, word := range strings.Fields(text) {
		for _, part := range strings.SplitAfter(word, ",") {
			if part != "" {
				ids = append(ids, tokenID(part))
			}
		}
	}
	return ids
}

func tokenID(text string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return int(h.Sum32() % vocabulary)
}

// words are all that the model can say.
var words = []string{
	"the", " blocks", " of", " a", " batch", " share", " one", " cache", " while", " each",
	" request", " waits", " its", " turn", " and", " the", " tokens", " flow", " on", ".",
}

// generate makes the token in the given place of an answer.
func generate(r *Request, place int, rng *rand.Rand) Token {
	text := words[rng.IntN(len(words))]
	if r.Script != nil {
		text = r.Script(place, text)
	}
	return Token{ID: tokenID(text), Text: text, LogProb: -float64(1+rng.IntN(2000)) / 1000}
}
