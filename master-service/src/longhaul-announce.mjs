#!/usr/bin/env node
// Plain JavaScript, so that a Node that cannot run TypeScript says so in one sentence.
import { stopOnOldNode } from '@longhaul/shared/runs-typescript';

stopOnOldNode();
await import('./announce/main.ts');
