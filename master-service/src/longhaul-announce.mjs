#!/usr/bin/env node
// Plain JavaScript, so that a Node that cannot run TypeScript says so in one sentence.
import { stopWithoutTypeScript } from '@longhaul/shared/runs-typescript';

stopWithoutTypeScript();
await import('./announce/main.ts');
