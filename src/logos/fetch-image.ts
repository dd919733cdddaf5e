import { MAX_LOGO_BYTES, type Picture } from '../domain/picture.ts';
import { createExchange, type ExchangeDeps, ExchangeError } from '../guarded-http/exchange.ts';
import { PictureError } from '../pictures/picture-error.ts';
import { takePicture } from '../pictures/take-picture.ts';

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

export type FetchImage = (url: string) => Promise<Picture>;

const TIMEOUT_MS = 5_000;
const HEADERS = { accept: 'image/webp,image/png,image/jpeg', 'user-agent': 'till' };

export function createImageFetcher(deps: ExchangeDeps): FetchImage {
  const exchange = createExchange(deps, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_LOGO_BYTES });
  return async (url) => {
    if (URL.parse(url)?.protocol !== 'https:') throw new ImageError('its URL is not an HTTPS one');
    const { status, bytes, isWhole } = await exchange({ url, method: 'GET', headers: HEADERS }).catch(
      (error: unknown) => {
        throw error instanceof ExchangeError ? new ImageError(error.message, error) : error;
      },
    );
    if (status !== 200) {
      throw new ImageError(`its server answered ${status}`, { isPassing: status >= 500 || status === 429 });
    }
    if (!isWhole) {
      if (bytes.length >= MAX_LOGO_BYTES) throw new ImageError('it is larger than 2 MB');
      throw new ImageError(`it did not arrive within ${TIMEOUT_MS / 1000} s`, { isPassing: true });
    }
    return takePicture(bytes).catch((error: unknown) => {
      throw error instanceof PictureError ? new ImageError(`it ${error.message}`) : error;
    });
  };
}
