#!/usr/bin/env node
// Committed rather than built, so that npm can link the command before anything is compiled.
import "../dist/main.js";
