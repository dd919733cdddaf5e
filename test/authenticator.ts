import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

type Options = Readonly<Record<string, unknown>> & { readonly challenge: string };

export interface AuthenticatorInput {
  readonly origin: string;
  readonly rpId: string;
  /** True for a page inside a frame of another origin. */
  readonly isCrossOrigin?: boolean;
}

/** A passkey in software, as a browser and its authenticator answer together: ES256, without attestation. */
export function createAuthenticator({ origin, rpId, isCrossOrigin = false }: AuthenticatorInput) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  let counter = 0;

  function clientData(type: string, challenge: string, crossOrigin = isCrossOrigin): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
  }

  /** The person was present and verified. */
  function authenticatorData(more = Buffer.alloc(0)): Buffer {
    counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const flags = more.length === 0 ? 0x05 : 0x45;
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), count, more]);
  }

  return {
    create({ challenge }: Options) {
      const coseKey = cbor(
        new Map<number, unknown>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(x, 'base64url')],
          [-3, Buffer.from(y, 'base64url')],
        ]),
      );
      const length = Buffer.from([0, id.length]);
      const authData = authenticatorData(Buffer.concat([Buffer.alloc(16), length, id, coseKey]));
      const attestation = cbor(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      );
      return {
        ...head(),
        response: {
          clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
        },
      };
    },
    get({ challenge }: Options, framed: Pick<AuthenticatorInput, 'isCrossOrigin'> = {}) {
      const client = clientData('webauthn.get', challenge, framed.isCrossOrigin);
      const data = authenticatorData();
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return {
        ...head(),
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
        },
      };
    },
  };

  function head() {
    const text = id.toString('base64url');
    return { id: text, rawId: text, type: 'public-key' as const, clientExtensionResults: {} };
  }
}

/** The few types of CBOR that a passkey uses. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? start(1, -1 - value) : start(0, value);
  if (typeof value === 'string') return Buffer.concat([start(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([start(2, value.length), value]);
  if (!(value instanceof Map)) throw new TypeError('not a value of a passkey');
  return Buffer.concat([start(5, value.size), ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)])]);
}

function start(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}
