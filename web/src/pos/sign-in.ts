import { backoffMs, pause } from '../shared/backoff.ts';
import type { Mode } from './gateway.ts';
import type { Brand, Place } from './kept.ts';
import type { Device } from './pos-state.ts';

const MODES: readonly Mode[] = ['test', 'live'];

/** Signs in with the token of a link. A lost connection does not end it: the token is sent again. */
export async function signIn(device: Device, token: string, signal: AbortSignal): Promise<void> {
  const { ask, set, random, outside } = device;
  const request = { method: 'POST', path: '/v1/sessions', mode: device.firstMode, body: { link: token } } as const;
  for (let failures = 0; !signal.aborted; failures += 1) {
    const answer = await ask(request, signal);
    set({ isOffline: answer.is === 'unknown', ...(answer.is === 'refused' && { problem: { kind: 'link' } }) });
    if (answer.is !== 'unknown') return;
    await pause(backoffMs(failures, random), signal, outside);
  }
}

/** Reads the person and the merchant. A person of one merchant has one mode, and is refused in the other, so both modes are tried. */
export async function readSession(device: Device, signal: AbortSignal): Promise<void> {
  const { ask, set, view, random, outside } = device;
  for (let failures = 0; !signal.aborted; failures += 1) {
    const known = view().kept.place?.mode ?? device.firstMode;
    for (const mode of [known, ...MODES.filter((each) => each !== known)]) {
      const answer = await ask({ method: 'GET', path: '/v1/sessions/current', mode }, signal);
      if (answer.is === 'unknown') break;
      if (answer.is === 'refused' && answer.status === 401) return set({ session: 'out', person: null });
      if (answer.is === 'ok') return takeSession(device, answer.body as CurrentSession, mode);
    }
    set({ isOffline: true });
    await pause(backoffMs(failures, random), signal, outside);
  }
}

function takeSession({ view, keep, set }: Device, current: CurrentSession, mode: Mode): void {
  const { person, merchant, rights, modes } = current;
  const shown = { name: person.name, rights, partnerWide: merchant === null, modes };
  const { place } = view().kept;
  if (merchant !== null) {
    const { brand, currencies } = place?.merchantId === merchant.id ? place : {};
    const own = { merchantId: merchant.id, merchantName: merchant.name, mode: modes[0] ?? mode };
    keep({ place: { ...own, brand, currencies } });
  }
  const isPlaced = merchant !== null || place !== null;
  set({ session: isPlaced ? 'in' : 'no_merchant', person: shown, isOffline: false });
}

/** Without an answer, the page keeps the merchant's last known branding and currencies. */
export function readMerchant(device: Device, signal: AbortSignal): void {
  const read = (name: string, partOf: (body: unknown) => Partial<Place>) =>
    void readPart(device, { name, partOf }, signal);
  read('branding', (body) => {
    const { logoUrl, accentColor } = (body as { branding: Brand }).branding;
    return { brand: { logoUrl, accentColor } };
  });
  read('currencies', (body) => {
    const { currencies } = body as { currencies: readonly { readonly code: string }[] };
    return { currencies: currencies.map(({ code }) => code) };
  });
}

interface Part {
  /** The last segment of the path. */
  readonly name: string;
  readonly partOf: (body: unknown) => Partial<Place>;
}

async function readPart({ ask, view, keep }: Device, { name, partOf }: Part, signal: AbortSignal): Promise<void> {
  const { place } = view().kept;
  if (place === null || view().session !== 'in') return;
  const { merchantId, mode } = place;
  const path = `/v1/merchants/${merchantId}/${name}`;
  const answer = await ask({ method: 'GET', path, mode }, signal);
  const current = view().kept.place;
  if (answer.is !== 'ok' || current?.merchantId !== merchantId) return;
  keep({ place: { ...current, ...partOf(answer.body) } });
}

interface CurrentSession {
  readonly person: { readonly name: string };
  readonly merchant: { readonly id: string; readonly name: string } | null;
  readonly rights: readonly string[];
  readonly modes: readonly Mode[];
}
