"""`python -m k8s_topo_mcp`."""

import sys

from k8s_topo_mcp.cli import main

sys.exit(main())
