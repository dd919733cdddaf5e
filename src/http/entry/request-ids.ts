import type { IncomingHttpHeaders } from 'node:http';
import type { Random } from '../../runtime/world.ts';

export type RequestIds = (request: { readonly headers: IncomingHttpHeaders }) => string;

/** Names each request: by the client's own id if it sent one, otherwise by a prefix of this node and a number. */
export function createRequestIds(random: Random): RequestIds {
  const prefix = `req_${Buffer.from(random.bytes(9)).toString('base64url')}`;
  let count = 0;
  return ({ headers }) => {
    const given = headers['request-id'];
    if (typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given)) return given;
    count += 1;
    return `${prefix}.${count.toString(36)}`;
  };
}
