import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const INSTALL = ['apt-get', 'install', '-y', '--no-install-recommends', 'chromium'] as const;
const INSTALL_WITHIN_MS = 300_000;

/** No background traffic: these tests compare every request with a list. */
const QUIET = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-default-apps',
  '--no-first-run',
  // Made-up pages of a test count as public pages, which may not frame a page of this machine.
  '--disable-features=LocalNetworkAccessChecks',
  // Shared memory is small in containers.
  '--disable-dev-shm-usage',
];

/**
 * The reason why browser tests cannot run here, with the command that fixes it; a failure where no test may be skipped.
 */
export function missingBrowser(): string | false {
  if (chromiumPath() !== undefined) return false;
  const reason = `There is no Chromium here. Install one: sudo ${INSTALL.join(' ')}`;
  if (process.env.CI !== undefined) throw new Error(reason);
  return reason;
}

export function launchBrowser(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error('There is no Chromium here.');
  return chromium.launch({ executablePath, args: QUIET });
}

let known: { readonly path: string | undefined } | undefined;

/** `CHROMIUM`, or one in PATH; on a Debian machine it is installed if permitted. */
function chromiumPath(): string | undefined {
  known ??= { path: findChromium() ?? installChromium() };
  return known.path;
}

function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = [process.env.CHROMIUM ?? '', ...NAMES.flatMap((name) => folders.map((dir) => join(dir, name)))];
  return candidates.find((path) => path !== '' && isProgram(path));
}

function installChromium(): string | undefined {
  if (process.getuid?.() !== 0 || !isProgram('/usr/bin/apt-get')) return undefined;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const [program, ...args] = INSTALL;
  for (const step of [['update', '-q'], args]) {
    try {
      execFileSync(program, step, { env, stdio: 'ignore', timeout: INSTALL_WITHIN_MS });
    } catch {
      // Offline, or another system: the tests report the missing program.
      return undefined;
    }
  }
  return findChromium();
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
