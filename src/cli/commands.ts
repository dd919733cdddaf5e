import { accountCommands } from './account-commands.ts';
import { appCommands } from './app-commands.ts';
import { auditCommands } from './audit-commands.ts';
import { booksCommands } from './books-commands.ts';
import { collectorCommands } from './collector-commands.ts';
import type { Command } from './command.ts';
import { databaseCommands } from './database-commands.ts';
import { destinationCommands } from './destination-commands.ts';
import { doctorCommands } from './doctor-commands.ts';
import { eventCommands } from './event-commands.ts';
import { explainCommands } from './explain-commands.ts';
import { feeCommands } from './fee-commands.ts';
import { fiatCommands } from './fiat-commands.ts';
import { floatCommands } from './float-commands.ts';
import { freezeCommands } from './freeze-commands.ts';
import { initCommands } from './init-commands.ts';
import { keyCommands } from './key-commands.ts';
import { listenCommands } from './listen-commands.ts';
import { merchantCommands } from './merchant-commands.ts';
import { networkCommands } from './network-commands.ts';
import { partnerCommands } from './partner-commands.ts';
import { payerCommands } from './payer-commands.ts';
import { peopleCommands } from './people-commands.ts';
import { pruneCommands } from './prune-commands.ts';
import { rateCommands } from './rate-commands.ts';
import { reconcileCommands } from './reconcile-commands.ts';
import { recordCommands } from './record-commands.ts';
import { refundCommands } from './refund-commands.ts';
import { relayerCommands } from './relayer-commands.ts';
import { secretCommands } from './secret-commands.ts';
import { strayCommands } from './stray-commands.ts';
import { systemCommands } from './system-commands.ts';
import { triggerCommands } from './trigger-commands.ts';

/** The groups of two-word commands: the first word of the commands, and a description for the help. */
export const GROUPS = {
  partners: 'Partners, who create payments for their merchants',
  keys: 'API keys of partners',
  people: 'People who sign in to the dashboard',
  payers: 'Data about payers',
  apps: 'Wallet apps, known by their App-Id',
  merchants: 'Merchants of all partners',
  destinations: 'Settlement destinations of merchants',
  refunds: 'Refunds of all partners',
  events: 'The event log',
  audit: 'The audit log',
  float: 'Money that refunds are paid from',
  strays: 'Money that arrived without a payment',
  networks: 'Networks payments are made on',
  tokens: 'Tokens of your own networks',
  accounts: 'Accounts that hold and send money, today and before',
  relayers: 'Accounts that send transactions',
  collector: 'The contract that carries payments out',
  freeze: 'Stop money of a merchant, a partner, a network, or all payouts or refunds',
  unfreeze: 'Lift freezes',
  fees: 'The operator’s fees on payments',
  books: 'The books: the position of every unit',
  secret: 'The master secret, which protects the stored secrets',
  database: 'Roles of the database',
  fiat: 'Bank arrangements of merchants, which partners can only read',
} as const;

export const COMMANDS: readonly Command[] = [
  ...partnerCommands,
  ...keyCommands,
  ...peopleCommands,
  ...payerCommands,
  ...appCommands,
  ...merchantCommands,
  ...destinationCommands,
  ...explainCommands,
  ...refundCommands,
  ...eventCommands,
  ...auditCommands,
  ...floatCommands,
  ...strayCommands,
  ...freezeCommands,
  ...feeCommands,
  ...fiatCommands,
  ...networkCommands,
  ...recordCommands,
  ...rateCommands,
  ...accountCommands,
  ...relayerCommands,
  ...collectorCommands,
  ...booksCommands,
  ...reconcileCommands,
  ...secretCommands,
  ...databaseCommands,
  ...listenCommands,
  ...initCommands,
  ...doctorCommands,
  ...pruneCommands,
  ...systemCommands,
  ...triggerCommands,
];
