module ignore-matcher

go 1.21

require github.com/moby/patternmatcher v0.6.1
