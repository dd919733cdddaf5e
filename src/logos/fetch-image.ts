import { type LookupAddress, lookup } from 'node:dns';
import { type RequestOptions, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type ImageType, imageType } from '../domain/image-type.ts';
import { isPublicAddress } from '../domain/public-address.ts';
import type { Timers } from '../runtime/world.ts';

/** An image as it was found at an address. */
export interface FetchedImage {
  readonly type: ImageType;
  readonly bytes: Buffer;
}

/** The reason for a missing image, for the operator. It never contains text from the server. */
export class ImageError extends Error {
  /** True if a retry may succeed. */
  readonly isPassing: boolean;
  constructor(reason: string, { isPassing = false } = {}) {
    super(reason);
    this.name = 'ImageError';
    this.isPassing = isPassing;
  }
}

export type FetchImage = (url: string) => Promise<FetchedImage>;

export interface FetchImageDeps {
  readonly timers: Timers;
  /** The addresses that may be connected to; public ones by default. */
  readonly isAllowed?: (address: string) => boolean;
  /** Certificate authorities in place of the usual ones. */
  readonly ca?: string;
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Fetches images from URLs that strangers chose. The connection itself resolves the name, once, and the address is
 * checked before anything is sent. There is no second look-up that could give another address.
 */
export function createImageFetcher({ timers, isAllowed = isPublicAddress, ca }: FetchImageDeps): FetchImage {
  return (url) =>
    new Promise((resolve, reject) => {
      const target = URL.parse(url);
      if (target?.protocol !== 'https:') return reject(new ImageError('its URL is not an HTTPS one'));
      const stop = new AbortController();
      const cancelTimer = timers.after(TIMEOUT_MS, () => {
        finish(new ImageError(`it took longer than ${TIMEOUT_MS / 1000} s`, { isPassing: true }));
      });
      const finish = (outcome: FetchedImage | ImageError) => {
        cancelTimer();
        if (outcome instanceof ImageError) reject(outcome);
        else resolve(outcome);
        stop.abort();
      };
      // An address in the URL itself is connected to without a look-up.
      const literal = target.hostname.replace(/^\[|\]$/g, '');
      if (isIP(literal) !== 0 && !isAllowed(literal)) return finish(notPublic());
      read(target, { signal: stop.signal, lookup: lookupAllowed(isAllowed), ca }, finish);
    });
}

function read(
  target: URL,
  options: Pick<RequestOptions, 'signal' | 'lookup' | 'ca'>,
  finish: (outcome: FetchedImage | ImageError) => void,
): void {
  const unreachable = (error: Error) =>
    finish(
      error instanceof ImageError ? error : new ImageError('its server could not be reached', { isPassing: true }),
    );
  const headers = { accept: 'image/avif,image/webp,image/png,image/jpeg', 'user-agent': 'till' };
  // No agent: a kept connection would be used again without a look-up.
  const outgoing = request(target, { ...options, headers, agent: false }, (response) => {
    const { statusCode: status = 0 } = response;
    // A redirect would let the server choose whom we ask next.
    if (status !== 200) {
      return finish(new ImageError(`its server answered ${status}`, { isPassing: status >= 500 || status === 429 }));
    }
    const parts: Buffer[] = [];
    let length = 0;
    response.on('data', (part: Buffer) => {
      length += part.length;
      if (length > MAX_BYTES) finish(new ImageError('it is larger than 2 MB'));
      else parts.push(part);
    });
    response.on('error', unreachable);
    response.on('end', () => {
      const bytes = Buffer.concat(parts);
      const type = imageType(bytes);
      if (type === undefined) finish(new ImageError('it is no JPEG, PNG, WebP or AVIF'));
      else finish({ type, bytes });
    });
  });
  outgoing.on('error', unreachable);
  outgoing.end();
}

/** Looks a name up and gives the connection only addresses that may be asked. */
function lookupAllowed(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return callback(error, []);
      const allowed = found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) callback(notPublic(), []);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function notPublic(): ImageError {
  return new ImageError('its address is not a public one');
}
