import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../runtime/world.ts';
import { createRateLimit } from './rate-limit.ts';
import { sharerOf } from './turns.ts';

/**
 * Limits the requests to the RPC endpoints of networks that anybody can cause: by listing options, by signatures that the account's
 * key did not make, and by payments that the chain would refuse. The same endpoints carry payments: a stranger must not use up
 * their quota.
 */
export interface SurveyLimit {
  /** Throws `rate_limited` if this caller has caused lookups of too many accounts. */
  take(request: FastifyRequest, reply: FastifyReply, accounts: number): void;
}

/**
 * The number of seconds whose tokens a bucket holds. It is more than one, because a wallet sends all its accounts at once, some
 * payers share an address, and a person may list options more than once.
 */
const WINDOW_S = 8;
/** The lookups of a request that do not depend on its accounts cost as much as this many accounts. */
const ACCOUNTS_PER_REQUEST = 4;

export interface SurveyLimitInput {
  readonly perKey: number;
  readonly perAddress: number;
  readonly onRefusal: () => void;
}

export function createSurveyLimit(clock: Clock, { perKey, perAddress, onRefusal }: SurveyLimitInput): SurveyLimit {
  const terms = { name: 'surveys', what: 'accounts', windowS: WINDOW_S, onRefusal };
  const byKey = createRateLimit(clock, { ...terms, perSecond: perKey });
  const byAddress = createRateLimit(clock, { ...terms, perSecond: perAddress });
  return {
    take(request, reply, accounts) {
      const { caller } = request;
      const limit = caller === undefined || caller.via === 'app' ? byAddress : byKey;
      limit.take(reply, sharerOf(request), ACCOUNTS_PER_REQUEST + accounts);
    },
  };
}
