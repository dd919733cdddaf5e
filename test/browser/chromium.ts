import { type Browser, chromium } from 'playwright-core';
import { type DebianProgram, missingProgram, programPath } from '../debian-program.ts';

/** Chromium without its windows: the same page takes a third of the processor time. */
const SHELL: DebianProgram = {
  names: ['chromium-headless-shell'],
  debianPackage: 'chromium-headless-shell',
  override: process.env.CHROMIUM,
};
const CHROMIUM: DebianProgram = {
  names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  debianPackage: 'chromium',
};

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

/** The reason why browser tests cannot run here; a failure where no test may be skipped. */
export function missingBrowser(): string | false {
  const reason = programPath(SHELL) === undefined && missingProgram(CHROMIUM);
  if (reason !== false && process.env.CI !== undefined) throw new Error(reason);
  return reason;
}

export function launchBrowser(): Promise<Browser> {
  const executablePath = programPath(SHELL) ?? programPath(CHROMIUM);
  if (executablePath === undefined) throw new Error('There is no Chromium here.');
  return chromium.launch({ executablePath, args: QUIET });
}
