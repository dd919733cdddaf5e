import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gates } from './access.ts';
import { addressGroup } from './rate-limit.ts';

/** Lets a request for a page in: it counts like one of a caller without a key, and is refused while the node is overloaded. */
export function pageGate({ load, limits }: Pick<Gates, 'load' | 'limits'>) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      load.check();
      limits.address.take(reply, addressGroup(request.ip));
      done();
    } catch (error) {
      done(error as Error);
    }
  };
}
