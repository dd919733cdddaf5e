import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import type { PaymentWork } from '../../runtime/payment-work.ts';
import { endPaying } from '../entry/paying.ts';
import { sharerOf } from '../entry/turns.ts';

/** The limit of held requests per caller. Held requests cost memory, not work, so they have a limit of their own. */
export interface HoldPlaces {
  /** Counts a held request of the caller until `free` is called. Throws `rate_limited` if the caller has too many held requests. */
  take(request: FastifyRequest, reply: FastifyReply): HoldPlace;
}

export interface HoldPlace {
  readonly request: FastifyRequest;
  /** Aborts when the client has gone. */
  readonly gone: AbortSignal;
  free(): void;
}

export interface HoldPlacesInput {
  readonly perKey: number;
  readonly perAddress: number;
  readonly paymentWork: PaymentWork;
  readonly onRefusal: () => void;
}

export function createHoldPlaces({ perKey, perAddress, paymentWork, onRefusal }: HoldPlacesInput): HoldPlaces {
  const taken = new Map<string, number>();
  return {
    take(request, reply) {
      const isKey = request.caller !== undefined && request.caller.via !== 'app';
      const name = sharerOf(request);
      const limit = isKey ? perKey : perAddress;
      const count = taken.get(name) ?? 0;
      if (count >= limit) {
        onRefusal();
        reply.header('RateLimit-Policy', `"holds";q=${limit};qu="concurrent-requests"`);
        reply.header('RateLimit', '"holds";r=0;t=1');
        throw new ApiError('rate_limited', `More than ${limit} requests are being held.`, { retryAfterS: 1 });
      }
      taken.set(name, count + 1);
      endPaying(paymentWork, request);
      const gone = new AbortController();
      const onClose = () => gone.abort();
      // If the client left before this line, `close` is not emitted any more.
      if (reply.raw.destroyed) onClose();
      else reply.raw.once('close', onClose);
      return {
        request,
        gone: gone.signal,
        free() {
          reply.raw.off('close', onClose);
          const left = (taken.get(name) ?? 1) - 1;
          if (left === 0) taken.delete(name);
          else taken.set(name, left);
        },
      };
    },
  };
}
