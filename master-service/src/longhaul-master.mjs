#!/usr/bin/env node
// Plain JavaScript, so that a Node that cannot run TypeScript says so in one sentence.
import { noteHangUps } from '@longhaul/shared/early-hang-ups';
import { stopOnOldNode } from '@longhaul/shared/runs-typescript';

// Before all that takes time: a supervisor that lets a service read its certificate again would end one that
// has just begun.
noteHangUps();
stopOnOldNode();
await import('./main.ts');
