import { Type } from 'typebox';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '../../actions/people/webauthn.ts';

/** The schema of bytes in base64url, as browsers encode them. An attestation may be some kilobytes. */
const bytes = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$', 'x-rule': 'must be base64url' });

/** Allows unknown fields: WebAuthn defines the answers of browsers, and they may gain fields. */
const OPEN = { additionalProperties: true } as const;
const Extensions = Type.Object({}, { title: 'PasskeyExtensions', ...OPEN, description: 'Not read.' });

/** The options of the browser call, in the JSON of WebAuthn. */
export const PasskeyOptions = Type.Unsafe<object>({
  type: 'object',
  additionalProperties: true,
  description: 'As WebAuthn defines it.',
});

/** The answer of `navigator.credentials.get`. */
export const SignedAnswer = Type.Unsafe<AuthenticationResponseJSON>(
  Type.Object(
    {
      id: bytes(1_024),
      rawId: bytes(1_024),
      type: Type.Literal('public-key'),
      response: Type.Object(
        {
          clientDataJSON: bytes(4_096),
          authenticatorData: bytes(4_096),
          signature: bytes(4_096),
          userHandle: Type.Optional(bytes(200)),
        },
        { ...OPEN, title: 'PasskeyAssertionResponse' },
      ),
      clientExtensionResults: Extensions,
      authenticatorAttachment: Type.Optional(Type.String({ maxLength: 50 })),
    },
    {
      title: 'PasskeyAssertion',
      ...OPEN,
      description: 'The answer of `navigator.credentials.get`, as WebAuthn defines its JSON.',
    },
  ),
);

/** The answer of `navigator.credentials.create`. */
export const CreatedAnswer = Type.Unsafe<RegistrationResponseJSON>(
  Type.Object(
    {
      id: bytes(1_024),
      rawId: bytes(1_024),
      type: Type.Literal('public-key'),
      response: Type.Object(
        {
          clientDataJSON: bytes(4_096),
          attestationObject: bytes(32_768),
          authenticatorData: Type.Optional(bytes(32_768)),
          transports: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 20 })),
          publicKeyAlgorithm: Type.Optional(Type.Integer()),
          publicKey: Type.Optional(bytes(8_192)),
        },
        { ...OPEN, title: 'PasskeyAttestationResponse' },
      ),
      clientExtensionResults: Extensions,
      authenticatorAttachment: Type.Optional(Type.String({ maxLength: 50 })),
    },
    {
      title: 'PasskeyAttestation',
      ...OPEN,
      description: 'The answer of `navigator.credentials.create`, as WebAuthn defines its JSON.',
    },
  ),
);
