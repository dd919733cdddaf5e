import { Type } from 'typebox';
import { openDeposit } from '../../actions/paying/open-deposit.ts';
import { parseAsset } from '../../domain/caip.ts';
import { validationError } from '../../errors.ts';
import { findDepositProgress } from '../../store/chain/deposit-progress.ts';
import type { App, HttpDeps } from '../deps.ts';
import { findPayable, GATEWAY_ACCESS, walletOf } from '../entry/gateway-caller.ts';
import { DepositBody, viewDeposit } from '../views/deposit.ts';
import { PaymentParams } from './payments.ts';

/** The route for payers who send money from any wallet or exchange. */
export function addressRoutes(app: App, deps: HttpDeps): void {
  app.post(
    '/payment/:id/address',
    {
      schema: ADDRESS,
      config: {
        access: GATEWAY_ACCESS,
        priority: 'money',
        errors: ['payment_not_found', 'invalid_state', 'payment_expired', 'executor_not_found'],
      },
    },
    async (request) => {
      const payment = await findPayable(deps, deps.readPayment, request);
      const asset = parseAsset(request.body.asset);
      if (!asset.ok) throw validationError([{ field: 'asset', message: asset.problem }]);
      const opened = await openDeposit(deps, { payment, asset: asset.value.id, buyer: walletOf(request) });
      const { commitment, network, item } = opened;
      const asked = { commitment, network, asset: opened.asset, deadline: item.deadline, asked: item.amount };
      return viewDeposit(deps, opened, await findDepositProgress(deps.db.sql, asked));
    },
  );
}

const ADDRESS = {
  tags: ['Gateway'],
  operationId: 'getDepositAddress',
  summary: 'Get an address that the payment can be sent to',
  description:
    'An address of this payment alone, for a token at par with the price, or the token of the price. Any transfer of that token to it counts, from any wallet or exchange, also in parts. Whatever arrives can only go to the merchant, less the fee. The same request gets the same address and terms, and the progress of the transfer. The payment must have two minutes left at the first request.',
  params: PaymentParams,
  body: Type.Object(
    {
      asset: Type.String({
        description: 'CAIP-19: the token to send.',
        examples: ['eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
      }),
    },
    { additionalProperties: false },
  ),
  response: { 200: { ...DepositBody, description: 'The address.' } },
};
