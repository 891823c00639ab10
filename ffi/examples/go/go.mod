module kb-example

go 1.19
