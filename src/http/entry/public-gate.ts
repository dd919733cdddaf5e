import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LoadGauge, Priority } from './load-shedding.ts';
import { addressGroup, type RateLimit } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A public route whose answer costs next to nothing, such as a file: it has a higher limit than a page. */
    isCheap?: true;
  }
}

interface PublicGates {
  readonly load: LoadGauge;
  readonly limits: { readonly address: RateLimit; readonly cheap: RateLimit };
}

/**
 * The gate of every route without access rules: its requests count against the address of the client, and are refused
 * while the node is overloaded. No public route can be added without it.
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
