# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Serves one interface file to the keeper; see rpc/protocol/README.md, "Worker link"."""

PROTOCOL = 1
