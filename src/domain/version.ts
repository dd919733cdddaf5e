import { daysInMonth } from './timestamp.ts';

/** All supported API versions, oldest first. */
export const KNOWN_VERSIONS = ['2026-02-18', '2026-02-19.preview'] as const;
export type Version = (typeof KNOWN_VERSIONS)[number];

/** A version that a partner can be pinned to. Previews are left out: a preview may change at any time, so each request must name it. */
export type PinnableVersion = Exclude<Version, `${string}.preview`>;

/** The API version of new partners, and of callers with an App-Id, which have no partner, if a request names no version. */
export const DEFAULT_PIN: PinnableVersion = '2026-02-18';

export type VersionForm =
  | { readonly ok: true; readonly requested: string | undefined }
  | { readonly ok: false; readonly code: 'invalid_api_version'; readonly message: string };

export type VersionResolution =
  | { readonly ok: true; readonly version: Version }
  | {
      readonly ok: false;
      readonly code: 'unknown_api_version' | 'api_version_downgrade';
      readonly message: string;
    };

/**
 * Reads the version from the headers and checks its form, before the caller and the pin are known. `WCP-Version` is an alias of
 * `Pay-Version`.
 */
export function checkVersionForm(headers: {
  readonly payVersion?: string | undefined;
  readonly wcpVersion?: string | undefined;
}): VersionForm {
  const { payVersion, wcpVersion } = headers;
  if (payVersion !== undefined && !isVersionLabel(payVersion)) return malformed('Pay-Version');
  if (wcpVersion !== undefined && !isVersionLabel(wcpVersion)) return malformed('WCP-Version');
  if (payVersion !== undefined && wcpVersion !== undefined && payVersion !== wcpVersion) {
    return invalid('Pay-Version and WCP-Version name different versions; send one of them');
  }
  return { ok: true, requested: payVersion ?? wcpVersion };
}

/**
 * The version of a request. A request may ask for a newer version than its pin, but never for an older one. Every version older
 * than the pin gets the same error, whether or not it was ever published. `requested` must come from `checkVersionForm`.
 */
export function resolveVersion(input: {
  readonly requested: string | undefined;
  readonly pin: PinnableVersion;
}): VersionResolution {
  const { requested, pin } = input;
  if (requested === undefined) return { ok: true, version: pin };
  // Only the dates are compared: a preview of the pin's own day is not older than the pin.
  if (datePart(requested) < datePart(pin)) {
    const message = `Pay-Version ${requested} is before the pinned version ${pin}. ${KNOWN_SENTENCE}`;
    return { ok: false, code: 'api_version_downgrade', message };
  }
  if (!isKnown(requested)) {
    return {
      ok: false,
      code: 'unknown_api_version',
      message: `Pay-Version ${requested} is unknown. ${KNOWN_SENTENCE}`,
    };
  }
  return { ok: true, version: requested };
}

export const isPinnable = (version: string): version is PinnableVersion => isKnown(version) && !isPreview(version);

const isKnown = (version: string): version is Version => KNOWN_VERSIONS.some((known) => known === version);

const KNOWN_SENTENCE = `Known versions: ${KNOWN_VERSIONS.join(', ')}.`;

const malformed = (header: string) => invalid(`${header} must be a date, YYYY-MM-DD or YYYY-MM-DD.preview`);

const invalid = (problem: string): VersionForm => ({
  ok: false,
  code: 'invalid_api_version',
  message: `${problem}. ${KNOWN_SENTENCE}`,
});

/** The date of a version. Dates written as YYYY-MM-DD can be compared as text. */
const datePart = (label: string): string => label.slice(0, 'YYYY-MM-DD'.length);

function isVersionLabel(text: string): boolean {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})(\.preview)?$/.exec(text);
  if (!match) return false;
  const [year = 0, month = 0, day = 0] = match.slice(1, 4).map(Number);
  return day >= 1 && day <= daysInMonth(year, month);
}

export function isPreview(version: string): boolean {
  return version.endsWith('.preview');
}
