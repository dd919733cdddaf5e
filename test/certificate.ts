import { createSign, generateKeyPairSync } from 'node:crypto';

/** A key and a self-signed certificate for localhost, new for every run. It ends at a time such as `491231235959Z`. */
export function selfSignedCertificate({ until = '491231235959Z' } = {}): {
  readonly key: string;
  readonly cert: string;
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(OID_COMMON_NAME, der(0x0c, Buffer.from('localhost')))));
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    sequence(OID_ECDSA_SHA256),
    name,
    sequence(utcTime('200101000000Z'), utcTime(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(OID_ALT_NAME, der(0x04, sequence(der(0x82, Buffer.from('localhost'))))))),
  );
  const signature = createSign('sha256').update(tbs).sign(privateKey);
  const bits = der(0x03, Buffer.concat([Buffer.from([0]), signature]));
  const base64 = sequence(tbs, sequence(OID_ECDSA_SHA256), bits).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

const OID_ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const OID_COMMON_NAME = Buffer.from('0603550403', 'hex');
const OID_ALT_NAME = Buffer.from('0603551d11', 'hex');

function utcTime(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** A tag, the length in the fewest bytes, and the content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}
