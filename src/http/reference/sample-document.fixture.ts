import type { OpenApiDocument, Schema } from './openapi-document.ts';

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const oneOf = (...values: string[]): Schema => ({ anyOf: values.map((value) => ({ type: 'string', const: value })) });
const json = (schema: Schema) => ({ 'application/json': { schema } });
const failure = (description: string) => ({ description, content: json(ref('Error')) });

const versionHeaders = [
  {
    in: 'header',
    name: 'Pay-Version',
    required: false,
    description: "Version of the API for this request. When omitted, the partner's pinned version is used.",
    schema: { type: 'string', format: 'date' },
    example: '2026-02-18',
  },
  ...['Sdk-Name', 'Sdk-Version', 'Sdk-Platform'].map((name) => ({
    in: 'header',
    name,
    required: false,
    schema: { type: 'string', maxLength: 255 },
  })),
];

const merchantId = {
  in: 'header',
  name: 'Merchant-Id',
  required: true,
  description: 'The merchant on whose behalf the request is made.',
  schema: { type: 'string', pattern: '^mrch_[0-9A-HJKMNP-TV-Z]{26}$' },
};

const display: Schema = {
  type: 'object',
  description: 'How to show the amount to a person.',
  required: ['assetSymbol', 'assetName', 'decimals'],
  properties: {
    assetSymbol: { type: 'string', examples: ['USDC'] },
    assetName: { type: 'string', examples: ['USD Coin'] },
    decimals: { type: 'integer', minimum: 0, maximum: 36, examples: [6] },
    networkName: { type: 'string', description: 'Tokens only.', examples: ['Base'] },
    iconUrl: { type: 'string', format: 'uri' },
    networkIconUrl: { type: 'string', format: 'uri' },
  },
};

/** A document as @fastify/swagger makes it: four operations, shared schemas, and every form that a schema can have. */
export const sampleDocument: OpenApiDocument = {
  info: {
    title: 'Till',
    version: '0.1.0',
    description:
      'Create payments for merchants, send the payer to `gatewayUrl`, and read what happened. All bodies are JSON.\n\n' +
      'Amounts are strings of minor units with a unit beside them:\n- `iso4217/USD` for a currency\n- `caip19/eip155:8453/erc20:0x8335…2913` for a token\n\n' +
      'Every error has a stable `code` to decide by and a `message` to read.',
  },
  servers: [{ url: 'http://localhost:8080' }],
  security: [{ ApiKey: [] }],
  tags: [
    { name: 'Payments', description: 'A payment is created by a partner and paid by whoever opens its gateway URL.' },
    { name: 'Merchants', description: 'Whoever is paid. A merchant belongs to the partner whose key created it.' },
    { name: 'Gateway', description: 'What wallets and the checkout page call. The payment id is the capability.' },
  ],
  paths: {
    '/v1/merchants': {
      get: {
        tags: ['Merchants'],
        summary: 'List merchants',
        description: 'Newest first. Deleted merchants are left out.',
        parameters: [
          {
            in: 'query',
            name: 'status',
            required: false,
            description: 'Only merchants in this state.',
            schema: ref('MerchantStatus'),
          },
          {
            in: 'query',
            name: 'search',
            required: false,
            description: 'Part of the name or the id, in any case.',
            schema: { type: 'string', minLength: 1, maxLength: 256 },
            example: 'corner',
          },
          {
            in: 'query',
            name: 'cursor',
            required: false,
            description: 'Opaque: the `nextCursor` of the page before.',
            schema: { type: 'string' },
          },
          {
            in: 'query',
            name: 'limit',
            required: false,
            schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          },
          ...versionHeaders,
        ],
        responses: {
          200: {
            description: 'One page of merchants.',
            content: json({
              type: 'object',
              required: ['merchants', 'totalCount', 'nextCursor'],
              properties: {
                merchants: { type: 'array', items: ref('Merchant') },
                totalCount: {
                  type: 'integer',
                  minimum: 0,
                  description: 'All that match, on every page.',
                  examples: [1],
                },
                nextCursor: { ...nullable({ type: 'string' }), description: 'Null on the last page.' },
              },
            }),
          },
          400: failure('`params_validation`: a filter breaks its rule. `invalid_params`: the cursor is unusable.'),
          401: failure('`missing_api_key` or `invalid_api_key`.'),
          429: failure('`rate_limited`: wait for `Retry-After` seconds.'),
          500: failure('`internal_error`: quote the request id.'),
        },
      },
      post: {
        tags: ['Merchants'],
        summary: 'Create a merchant',
        description:
          'A retry with the same `Idempotency-Key` returns the merchant created first, instead of a duplicate. The same key with another body is refused.',
        parameters: [
          {
            in: 'header',
            name: 'Idempotency-Key',
            required: true,
            description: 'Chosen by the caller, unique per merchant created.',
            schema: { type: 'string', minLength: 1, maxLength: 255 },
          },
          ...versionHeaders,
        ],
        requestBody: {
          required: true,
          content: json({
            type: 'object',
            required: ['merchantName', 'merchantEmail'],
            properties: {
              merchantName: { type: 'string', minLength: 1, maxLength: 256, examples: ['Corner Coffee'] },
              merchantEmail: {
                type: 'string',
                format: 'email',
                description: 'Contact address. Never shown to payers.',
                examples: ['owner@corner-coffee.example'],
              },
              iconUrl: {
                type: ['string', 'null'],
                format: 'uri',
                pattern: '^https://',
                description: 'Logo shown at the checkout. HTTPS only.',
              },
            },
          }),
        },
        responses: {
          201: {
            description: 'The merchant.',
            headers: {
              'Idempotent-Replayed': {
                description: '`true` when the answer was made by an earlier request.',
                schema: { type: 'string' },
              },
            },
            content: json({ type: 'object', required: ['merchant'], properties: { merchant: ref('Merchant') } }),
          },
          400: failure('`params_validation`: every broken field is listed in `issues`.'),
          401: failure('`missing_api_key` or `invalid_api_key`.'),
          409: failure('`idempotency_conflict`: the key was used for a different request.'),
        },
      },
    },
    '/v1/payments': {
      post: {
        tags: ['Payments'],
        summary: 'Create a payment',
        description:
          'Returns the URL to which the payer is redirected. The payment expires five minutes from now unless `expiresAt` says otherwise.',
        parameters: [
          merchantId,
          {
            in: 'header',
            name: 'Idempotency-Key',
            required: false,
            description: 'Makes a retry safe.',
            schema: { type: 'string', maxLength: 255 },
          },
          ...versionHeaders,
        ],
        requestBody: {
          required: true,
          content: json({
            type: 'object',
            required: ['amount', 'referenceId'],
            properties: {
              amount: { ...ref('Amount'), description: 'What is to be paid.' },
              referenceId: {
                type: 'string',
                minLength: 1,
                maxLength: 35,
                description: 'Your order id. Shown to the payer and searchable in lists.',
                examples: ['ORDER-1042'],
              },
              checkout: nullable({
                type: 'object',
                description: 'Where the payer goes afterwards.',
                properties: {
                  successUrl: { type: 'string', format: 'uri', examples: ['https://shop.example/thanks'] },
                  errorUrl: { type: 'string', format: 'uri', examples: ['https://shop.example/cart'] },
                },
              }),
              expiresAt: {
                ...nullable({ type: 'integer', format: 'int64', minimum: 0 }),
                description: 'Seconds since the epoch, in the future.',
              },
            },
          }),
        },
        responses: {
          201: {
            description: 'The payment waits for its payer.',
            content: {
              'application/json': {
                schema: ref('CreatedPayment'),
                example: {
                  paymentId: 'pay_01JKZ8Q4E7T2M5N9R3V6X0B1CD',
                  status: 'requires_action',
                  expiresAt: 1771416300,
                  isFinal: false,
                  gatewayUrl: 'http://localhost:8080/?pid=pay_01JKZ8Q4E7T2M5N9R3V6X0B1CD',
                  pollInMs: 2000,
                },
              },
            },
          },
          400: failure('`params_validation`: every broken field is listed in `issues`.'),
          401: failure('`missing_api_key`, `invalid_api_key` or `missing_merchant_id`.'),
          403: failure('`forbidden`: the merchant is inactive or suspended.'),
          404: failure('`merchant_not_found`'),
          409: failure('`idempotency_conflict`: the key was used for a different request.'),
          500: failure('`internal_error`: quote the request id.'),
        },
      },
    },
    '/v1/gateway/payment/{id}/status': {
      parameters: [
        {
          in: 'path',
          name: 'id',
          required: true,
          description: 'The payment id, or its gateway URL percent-encoded.',
          schema: { type: 'string' },
          example: 'pay_01JKZ8Q4E7T2M5N9R3V6X0B1CD',
        },
      ],
      get: {
        tags: ['Gateway'],
        summary: 'Get the status of a payment',
        description:
          'With `maxPollMs` the answer waits for the status to change. Ask again after `pollInMs` until `isFinal`.',
        security: [{ ApiKey: [] }, { AppId: [], ClientId: [] }],
        deprecated: true,
        parameters: [
          {
            in: 'query',
            name: 'maxPollMs',
            required: false,
            description: 'Longest wait for a change, in milliseconds.',
            schema: nullable({ type: 'integer', format: 'int64', minimum: 0, maximum: 30000 }),
          },
        ],
        responses: {
          200: { description: 'Default Response', content: json(ref('PaymentState')) },
          404: failure('`payment_not_found`'),
        },
      },
    },
  },
  components: {
    securitySchemes: {
      ApiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'Api-Key',
        description: "A partner's key: `till_test_…` or `till_live_…`. Merchant-scoped routes also need `Merchant-Id`.",
      },
      AppId: { type: 'apiKey', in: 'header', name: 'App-Id', description: 'A registered wallet app.' },
      ClientId: { type: 'apiKey', in: 'header', name: 'Client-Id', description: 'The installation of that app.' },
    },
    schemas: {
      Amount: {
        type: 'object',
        required: ['unit', 'value'],
        properties: {
          unit: {
            type: 'string',
            pattern: '^(iso4217/[A-Z]{3}|caip19/.+)$',
            description: '`iso4217/` and a currency code, or `caip19/` and an asset id.',
            examples: ['iso4217/USD'],
          },
          value: { type: 'string', pattern: '^[0-9]{1,78}$', description: 'Minor units.', examples: ['1250'] },
        },
      },
      AmountWithDisplay: { allOf: [ref('Amount'), { type: 'object', required: ['display'], properties: { display } }] },
      CreatedPayment: {
        type: 'object',
        required: ['paymentId', 'status', 'expiresAt', 'isFinal', 'gatewayUrl'],
        properties: {
          paymentId: { type: 'string', description: 'Begins with `pay_`.' },
          status: ref('PaymentStatus'),
          expiresAt: { type: 'integer', format: 'int64', minimum: 0, description: 'Seconds since the epoch.' },
          isFinal: { type: 'boolean', description: 'True when polling is no longer needed.' },
          gatewayUrl: { type: 'string', format: 'uri', description: 'Redirect the payer here.' },
          pollInMs: nullable({ type: 'integer', format: 'int64', minimum: 0 }),
        },
      },
      Error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { ...oneOf('params_validation', 'invalid_api_key', 'internal_error'), description: 'Decide by this.' },
          message: { type: 'string', description: 'For people; may change.' },
          issues: {
            type: 'array',
            maxItems: 100,
            items: {
              type: 'object',
              required: ['field', 'message'],
              properties: { field: { type: 'string' }, message: { type: 'string' } },
            },
          },
          details: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
      Merchant: {
        type: 'object',
        required: ['id', 'name', 'email', 'status', 'createdAt'],
        properties: {
          id: { type: 'string', description: 'Begins with `mrch_`.', examples: ['mrch_01JKZ8Q4E7T2M5N9R3V6X0B1CD'] },
          name: { type: 'string', examples: ['Corner Coffee'] },
          email: { type: ['string', 'null'], examples: ['owner@corner-coffee.example'] },
          status: ref('MerchantStatus'),
          iconUrl: { ...nullable({ type: 'string', format: 'uri' }), description: 'Logo.' },
          createdAt: { type: 'string', format: 'date-time', examples: ['2026-02-18T12:00:00.000Z'] },
        },
      },
      MerchantStatus: {
        ...oneOf('active', 'inactive', 'suspended'),
        description: 'Only active merchants take payments.',
      },
      PaymentState: {
        type: 'object',
        required: ['isFinal', 'status'],
        properties: {
          isFinal: { type: 'boolean', examples: [true] },
          status: { ...ref('PaymentStatus'), examples: ['succeeded'] },
          failureCode: { ...nullable({ type: 'string', const: 'declined_user' }), description: 'Only when `failed`.' },
          info: nullable({
            type: 'object',
            description: 'Only when `succeeded`.',
            required: ['optionAmount', 'txId'],
            properties: { optionAmount: ref('AmountWithDisplay'), txId: { type: 'string', examples: ['0x5c50…9f1a'] } },
          }),
          pollInMs: nullable({ type: 'integer', format: 'int64', minimum: 0 }),
          retries: { type: 'array', description: 'Earlier attempts at the same order.', items: ref('PaymentState') },
          source: {
            anyOf: [
              { title: 'Wallet', type: 'object', required: ['account'], properties: { account: { type: 'string' } } },
              { title: 'Card', type: 'object', required: ['last4'], properties: { last4: { type: 'string' } } },
            ],
          },
        },
      },
      PaymentStatus: {
        ...oneOf('requires_action', 'processing', 'succeeded', 'failed', 'expired', 'cancelled'),
        description: 'The last four are final.',
      },
    },
  },
};
