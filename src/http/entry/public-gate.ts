import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LoadGauge, Priority } from './load-shedding.ts';
import { addressGroup, type RateLimit } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a public route whose answer costs very little, such as a file. It has a higher limit than a page. */
    isCheap?: true;
  }
}

interface PublicGates {
  readonly load: LoadGauge;
  readonly limits: { readonly address: RateLimit; readonly cheap: RateLimit };
}

/**
 * The gate of every route without access rules. Its requests count against the client's address, and are refused while the node
 * is overloaded. Every public route passes it, so none can be added without a limit.
 */
export function publicGate(
  { load, limits }: PublicGates,
  { priority, isCheap }: { readonly priority: Priority; readonly isCheap: true | undefined },
) {
  const limit = isCheap ? limits.cheap : limits.address;
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      load.check(priority);
      limit.take(reply, addressGroup(request.ip));
      done();
    } catch (error) {
      done(error as Error);
    }
  };
}
