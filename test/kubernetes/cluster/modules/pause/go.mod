module quayside/test/pause

go 1.24
