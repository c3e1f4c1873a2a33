"""The functions of CEL as Kubernetes has them, by subject. Each module holds rows (`declaration.Function`): one row serves
the checker, the dispatch at run time and the cost."""
