import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const INSTALL = ['apt-get', 'install', '-y', '--no-install-recommends', 'chromium'] as const;
const INSTALL_WITHIN_MS = 300_000;

/** Nothing of its own: these tests hold every request against a list. */
const QUIET = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-default-apps',
  '--no-first-run',
  // Pages that a test makes up count as ones of the internet, and those may not frame a page of this machine.
  '--disable-features=LocalNetworkAccessChecks',
  // Shared memory is small in containers.
  '--disable-dev-shm-usage',
];

/** Why browser tests cannot run here, in the one line that changes it; where nobody may skip them, that is a failure. */
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

/** `CHROMIUM`, or one in PATH; on a Debian machine where we may, it is installed. */
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
      // Offline, or another system: the tests say what is missing.
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
