import { Type } from 'typebox';
import { RECEIPT_FORMS, receiptJwkOf } from '../../domain/receipt.ts';
import { listReceiptKeys } from '../../store/plumbing/receipt-keys.ts';
import type { App, HttpDeps } from '../deps.ts';
import { signedReceipt } from '../receipts/signed-receipt.ts';
import { enumOf } from '../schemas.ts';
import { findOwnPayment, PaymentParams, READ } from './payments.ts';

export async function receiptRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get(
    '/v1/payments/:id/receipt',
    { schema: RECEIPT, config: { access: READ, errors: ['payment_not_found', 'invalid_state'] } },
    async (request) => signedReceipt(deps, await findOwnPayment(deps.readPayment, request)),
  );

  app.get('/.well-known/till-receipts.json', { schema: KEYS }, async () => {
    const keys = await listReceiptKeys(deps.db.sql);
    return { keys: keys.map(({ publicKey }) => receiptJwkOf(publicKey)) };
  });
}

const text = (description: string) => Type.String({ description });

const PLACE = {
  transaction: text('The hash of the transaction.'),
  blockNumber: Type.String(),
  blockHash: Type.String(),
  logIndex: text('The number of the event in its block.'),
};

const SHOWN = {
  subject: Type.Optional(
    text('The bytes that the chain shows in place of the id, in hex. Only in the fourth and the fifth form.'),
  ),
  nonceSpace: Type.Optional(
    text('The place where the nonce was used up: 0 the Collector, 1 the token, 2 Permit2. Not for a deposit address.'),
  ),
};

const ReceiptBody = Type.Object(
  {
    form: enumOf(
      RECEIPT_FORMS,
      'The second form names the refunds of a payment. The third is of a payment that was sent to its deposit address. The fourth and the fifth are the same for contracts that show 32 sealed bytes in place of an id.',
    ),
    paymentId: Type.String({ examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    merchantId: Type.String(),
    referenceId: Type.String(),
    priceUnit: text('The unit of the price.'),
    priceValue: text('The price, in minor units.'),
    succeededAt: text('The time at which the payment became `succeeded`, ISO 8601.'),
    network: text('CAIP-2.'),
    chainId: text('The number of the chain.'),
    asset: text('The paid asset, CAIP-19.'),
    token: text('The address of the token; the zero address for the coin of the chain.'),
    collector: text('The contract that carried it out; for a deposit address the contract of deposit addresses.'),
    payer: text('The payer; for a deposit address the deposit address.'),
    recipient: text('The recipient of the amount less the fee.'),
    feeAccount: text('The recipient of the fee.'),
    amount: text('The paid amount, in the smallest unit; for a deposit address the asked amount.'),
    fee: text('The fee of the amount.'),
    deadline: text('The deadline of the signature or of the deposit address, in seconds since the epoch.'),
    commitment: text('The hash that the payer signed as nonce; for a deposit address the salt of the deposit address.'),
    ...PLACE,
    ...SHOWN,
    refunds: Type.Optional(
      Type.Array(
        Type.Object(
          {
            refundId: Type.String({ examples: ['rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
            collector: text('The contract that carried it out.'),
            payer: text('The account that gave it back.'),
            recipient: text('The recipient.'),
            feeAccount: text('A part of the commitment; a refund has no fee.'),
            amount: text('The refunded amount, in the smallest unit.'),
            deadline: text('The deadline of the signature, in seconds since the epoch.'),
            commitment: text('The hash of all terms.'),
            ...PLACE,
            ...SHOWN,
          },
          { title: 'ReceiptRefund' },
        ),
        { description: 'The refunds that are final, by their numbers. Not in the first form.' },
      ),
    ),
    arrived: Type.Optional(
      text(
        'The money that `transfers` and `sweeps` prove, in the smallest unit. The operator may have accepted a little less than the asked amount. Only for a deposit address.',
      ),
    ),
    transfers: Type.Optional(
      Type.Array(
        Type.Object(
          { sender: text('The account that sent it.'), amount: text('The sent amount.'), ...PLACE },
          { title: 'ReceiptTransfer' },
        ),
        {
          description:
            'The final transfers to the deposit address that came in time, the largest 100 of them. Empty if they are unknown after a rebuild. Only for a deposit address.',
        },
      ),
    ),
    sweeps: Type.Optional(
      Type.Array(
        Type.Object(
          { amount: text('The swept amount.'), fee: text('The part for the fee account.'), ...PLACE },
          { title: 'ReceiptSweep' },
        ),
        {
          description:
            'The final sweeps of the deposit address, the largest 100 of them. Each paid its amount less its fee to the recipient. Only for a deposit address.',
        },
      ),
    ),
  },
  { title: 'Receipt' },
);

const RECEIPT = {
  tags: ['Payments'],
  operationId: 'getPaymentReceipt',
  summary: 'Get the receipt of a payment',
  description:
    'Everything needed to check a succeeded payment against the chain, signed by the operator. The signature is of the receipt as JSON in UTF-8, members in alphabetical order everywhere, no white space.',
  params: PaymentParams,
  response: {
    200: Type.Object(
      {
        receipt: ReceiptBody,
        signature: Type.Object(
          {
            algorithm: Type.Literal('ed25519'),
            keyId: text('The `kid` of a key in `/.well-known/till-receipts.json`.'),
            value: text('Base64url.'),
          },
          { title: 'ReceiptSignature' },
        ),
        pageUrl: text(
          'The page of the receipt, for people. It has a secret of its own, which is the right to see the receipt: give it to the payer alone.',
        ),
      },
      { title: 'SignedReceipt', description: 'The receipt.' },
    ),
  },
};

const KEYS = {
  tags: ['Operations'],
  operationId: 'getReceiptKeys',
  summary: 'Get the keys that sign receipts',
  description: 'The key that signs now comes first. Older keys stay, so that the receipts they signed can be checked.',
  response: {
    200: Type.Object(
      {
        keys: Type.Array(
          Type.Object(
            {
              kty: Type.Literal('OKP'),
              crv: Type.Literal('Ed25519'),
              alg: Type.Literal('EdDSA'),
              use: Type.Literal('sig'),
              kid: text('The thumbprint of the key, RFC 7638.'),
              x: text('The public key, base64url.'),
            },
            { title: 'ReceiptKey' },
          ),
        ),
      },
      { title: 'ReceiptKeys', description: 'A JSON Web Key Set.' },
    ),
  },
};
