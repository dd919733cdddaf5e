import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from '../processes.ts';

/** The reference facilitator as published, with the version of viem its packages resolve with. */
const PACKAGES = { '@x402/core': '2.27.0', '@x402/evm': '2.27.0', viem: '2.57.1' };
const FOLDER = join(import.meta.dirname, '..', '.peer');
const INSTALL_WITHIN_MS = 180_000;

/**
 * Installs the peer's packages beside the benchmark, where git ignores them: the gateway does not depend on them. Later
 * runs find them there.
 */
export async function installPeer(): Promise<string> {
  const done = join(FOLDER, 'installed.json');
  const wanted = JSON.stringify(PACKAGES);
  if ((await readFile(done, 'utf8').catch(() => '')) === wanted) return FOLDER;
  await mkdir(FOLDER, { recursive: true });
  const manifest = { private: true, type: 'module', dependencies: PACKAGES };
  await writeFile(join(FOLDER, 'package.json'), JSON.stringify(manifest));
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock', '--prefix', FOLDER];
  await runTool('npm', ['install', ...options], { withinMs: INSTALL_WITHIN_MS });
  await writeFile(done, wanted);
  return FOLDER;
}
