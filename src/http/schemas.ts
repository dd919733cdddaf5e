import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { MAX_ACCEPTED_ASSETS } from '../domain/accepted-assets.ts';
import { LANGUAGES } from '../domain/mail.ts';
import { MERCHANT_STATUSES } from '../domain/merchant.ts';
import { CATALOGUE, type ErrorCode } from '../errors.ts';

/**
 * The building blocks of every request and response. They validate, serialise and document: no other code describes the wire
 * format. `x-rule` is the sentence that a client gets if a pattern does not match.
 */

/**
 * The patterns of this file must work in JavaScript, Python and Go, so they have no lookahead, no reference to a group, and no class
 * that one of the three lacks or reads differently. `x-form` names a check in code for the rules that such patterns cannot express.
 */

const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';

/** Any text without control characters and without unpaired surrogates. */
export const PLAIN_TEXT = {
  pattern: `^[^${CONTROL}]*$`,
  'x-form': 'text',
  'x-rule': 'must be text without control characters',
} as const;

/** `PLAIN_TEXT` that may also have tabs and line breaks. */
export const PLAIN_LINES = { ...PLAIN_TEXT, pattern: '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]*$' } as const;

/** `PLAIN_TEXT` of a bounded length, without some characters. */
export function plainText(minLength: number, maxLength: number, without = '') {
  return { pattern: `^[^${without}${CONTROL}]{${minLength},${maxLength}}$`, 'x-form': 'text' };
}

/** Text that people write: any script, but no control characters, no unpaired surrogates, and not only white space. */
export function textOf(maxLength: number, description: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    ...PLAIN_TEXT,
    'x-form': 'text-not-blank',
    'x-rule': 'must be text without control characters, and not blank',
    description,
  });
}

export function enumOf<const T extends readonly string[]>(values: T, description?: string) {
  return Type.Unsafe<T[number]>({
    type: 'string',
    enum: [...values],
    ...(description === undefined ? {} : { description }),
  });
}

/** A closed list of values that has a name in the description of the API. */
export function namedEnum<const T extends readonly string[]>(title: string, values: T, description?: string) {
  return Type.Unsafe<T[number]>({ title, ...enumOf(values, description) });
}

/** The rule that an object has at least one of these optional fields. It is for the body of a change. */
export function atLeastOneOf(names: readonly string[]) {
  return {
    anyOf: names.map((name) => ({ required: [name] })),
    'x-rule': `must have at least one of ${names.join(', ')}`,
  };
}

/** The schema of the body of a change: at least one of these fields. */
export function changeOf<Fields extends TProperties>(title: string, fields: Fields) {
  return Type.Partial(Type.Object(fields), {
    title,
    additionalProperties: false,
    ...atLeastOneOf(Object.keys(fields)),
  });
}

/** The schema with null as a further value. One `type` array instead of a choice of two schemas keeps error messages short. */
export function nullable<S extends TSchema>(schema: S) {
  const { type, ...rest } = schema as unknown as { type: string; enum?: readonly unknown[] };
  const values = rest.enum && { enum: [...rest.enum, null] };
  return Type.Unsafe<Static<S> | null>({ type: [type, 'null'], ...rest, ...values });
}

export const EmailAddress = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: "^(?:[A-Za-z0-9_'+-]+\\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\\.)+[A-Za-z]{2,}$",
  'x-rule': 'must be an e-mail address',
  description: 'Contact e-mail address.',
  examples: ['shop@example.com'],
});

export const MailLanguage = enumOf(LANGUAGES, 'The language of the mail. English by default.');

export const HttpsUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  pattern: `^https://[^\\s${CONTROL}]+$`,
  'x-rule': 'must be an HTTPS URL',
  'x-form': 'https-url',
  examples: ['https://example.com/logo.png'],
});

export const Timestamp = Type.String({
  title: 'Timestamp',
  format: 'date-time',
  description: 'ISO 8601, UTC, with milliseconds.',
  examples: ['2026-02-18T09:30:00.000Z'],
});

/** The schema of a picture that the gateway stores and serves itself. */
export function pictureField({ maxBytes, size }: { readonly maxBytes: number; readonly size: string }) {
  return Type.String({
    minLength: 1,
    // Base64 has four characters for three bytes. The extra length lets slightly too large pictures pass the schema, so that
    // they are refused with a message about their size.
    maxLength: Math.ceil(maxBytes / 3) * 4 + 1_000,
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    'x-rule': 'must be a picture in base64',
    description: `A JPEG, PNG or WebP of at most ${size}, in base64.`,
  });
}

export const PriceFields = {
  unit: Type.String({
    minLength: 1,
    maxLength: 256,
    description: '`iso4217/` and a currency code, or `caip19/` and the id of an asset this gateway knows.',
    examples: ['iso4217/USD'],
  }),
  value: Type.String({
    pattern: '^[1-9][0-9]{0,77}$',
    'x-rule': 'must be a whole number of minor units, as 1 to 78 digits without a leading zero',
    description: 'Minor units: `1000` is 10.00 USD and 1000 JPY.',
    examples: ['1000'],
  }),
};

/** The schema of a list of accepted assets. `description` names the object that has the list. */
export function acceptedAssetsField(description: string) {
  return Type.Unsafe<string[] | null>({
    title: 'AcceptedAssets',
    type: ['array', 'null'],
    items: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      'x-form': 'accepted-asset',
    },
    minItems: 1,
    maxItems: MAX_ACCEPTED_ASSETS,
    'x-rule': 'must name at least one asset or network; null is no limit',
    description: `${description} CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit.`,
    examples: [['eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913']],
  });
}

export const Cursor = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'Opaque: the `nextCursor` of the page before, with the same filters.',
});

export const NextCursor = nullable(
  Type.String({ description: 'Pass it as `cursor` for the next page; null at the end.' }),
);

/** The schema of a page of a list. */
export function pageOf<Items extends TProperties>(items: Items, title: string, description = 'One page.') {
  return Type.Object({ ...items, nextCursor: NextCursor }, { title, description });
}

export function limitOf(max: number, fallback: number) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: max, default: fallback, description: 'Size of the page.' }));
}

export const MerchantStatusField = namedEnum('MerchantStatus', MERCHANT_STATUSES);

export const ErrorBody = Type.Object(
  {
    code: namedEnum('ErrorCode', Object.keys(CATALOGUE) as ErrorCode[], 'The error code, for programs.'),
    message: Type.String({ description: 'The problem as a sentence for people.' }),
    issues: Type.Optional(
      Type.Array(
        Type.Object(
          {
            field: Type.String({ description: 'The field or header, such as `settlements[0].asset`.' }),
            message: Type.String(),
          },
          { title: 'Issue' },
        ),
        { description: 'Every broken field, on validation errors.' },
      ),
    ),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Additional details, if there are any.' }),
    ),
  },
  { $id: 'ErrorBody', description: 'The body of every error.' },
);

export function deletedBody(description: string) {
  return Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'Deleted', description });
}

export const CancelledBody = Type.Object(
  {
    paymentId: Type.String(),
    status: Type.String(),
    cancelledReason: enumOf(['cancelled_by_merchant', 'cancelled_by_user']),
    cancelledAt: Timestamp,
  },
  { title: 'CancelledPayment', description: 'It is cancelled.' },
);
