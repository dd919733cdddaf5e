import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { IS_LONG, ONLY_LONG } from '../long.ts';
import { describeChain } from './conformance.ts';
import { createEvmHarness } from './evm-harness.ts';
import { openScriptedEvm } from './scripted-evm.ts';

/** Blocks come when they are asked for: the next one of its own is days away. */
const BLOCK_MS = 20 * 24 * 3_600_000;

const quiet = () => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };
let dir: string;
let sandbox: SandboxChain;

const TITLE = "the EVM adapter on the sandbox's chain process";

before(async () => {
  if (!IS_LONG) return;
  dir = await mkdtemp(join(tmpdir(), 'till-conformance-'));
  sandbox = await startSandboxChain({ world: systemWorld, log }, { dir, blockMs: BLOCK_MS, isScriptable: true });
});

after(async () => {
  await sandbox?.stop();
  if (IS_LONG) await rm(dir, { recursive: true, force: true });
});

if (IS_LONG) describeChain(TITLE, async () => createEvmHarness(await openScriptedEvm(sandbox.rpcUrl)));
else it(TITLE, ONLY_LONG);
