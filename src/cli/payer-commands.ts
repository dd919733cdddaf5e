import { eraseAccount, eraseEmail } from '../actions/paying/erase-payer.ts';
import { parseAccount } from '../domain/caip.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { type Kind, Problem } from './kinds.ts';
import { required } from './options.ts';
import { emailAddress } from './people-kinds.ts';
import { align } from './table.ts';

type Payer = { readonly email: string } | { readonly network: string; readonly address: string };

const payer: Kind<Payer> = {
  placeholder: 'account or e-mail',
  parse: (raw, nowMs, registry) => {
    if (raw.includes('@')) {
      const email = emailAddress.parse(raw, nowMs, registry);
      return email instanceof Problem ? email : { email };
    }
    const account = parseAccount(raw);
    return account.ok
      ? { network: account.value.chainId, address: account.value.address }
      : new Problem('must be a CAIP-10 account such as eip155:8453:0x…, or an e-mail address');
  },
};

/** The data about a payer that `payers erase` keeps, with the reasons, as listed in `docs/payer-data.md`. */
const KEPT = {
  account: [
    'The account in payments, items, books and receipts: they prove who paid, and the chain shows it to everybody.',
    'The name of the wallet in events: their table accepts no change, and partners have read them.',
    'The texts that the merchant gave to the payment: they are data of the merchant.',
    'Failures within the last hour: they limit the cost that an account can cause.',
  ],
  email: ['Addresses of people who sign in: `people remove` removes a person.', 'Addresses in texts of merchants.'],
} as const;

const erase = databaseCommand({
  name: 'payers erase',
  summary: 'Erase the data about a payer that the books do not need, and say what stays.',
  positionals: { payer: required(payer, 'The paying account (CAIP-10), or an e-mail address that got receipts.') },
  examples: ['payers erase eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'payers erase payer@example.com'],
  run: async (deps, { payer: found }) => {
    const actor = operatorOf(deps.config);
    const erased =
      'email' in found
        ? { receiptMails: await eraseEmail(deps, { email: found.email, actor }) }
        : await eraseAccount(deps, { payer: found, actor });
    const kept = 'email' in found ? KEPT.email : KEPT.account;
    const lines = kept.map((reason) => `  ${reason}`);
    const counts = Object.entries(erased).map(([name, count]) => [`  ${name}`, String(count)]);
    return {
      json: { erased, kept },
      text: `Erased:\n\n${align(counts)}\n\nKept:\n\n${lines.join('\n')}`,
    };
  },
});

export const payerCommands: readonly Command[] = [erase];
