import { appCommands } from './app-commands.ts';
import type { Command } from './command.ts';
import { fiatCommands } from './fiat-commands.ts';
import { keyCommands } from './key-commands.ts';
import { merchantCommands } from './merchant-commands.ts';
import { partnerCommands } from './partner-commands.ts';
import { paymentCommands } from './payment-commands.ts';
import { systemCommands } from './system-commands.ts';

/** The first words of commands that have two. */
export const GROUPS = {
  partners: 'Partners, who create payments for their merchants',
  keys: 'API keys of partners',
  apps: 'Wallet apps, known by their App-Id',
  merchants: 'Merchants of all partners',
  payments: 'Payments of all partners',
  fiat: 'Bank arrangements of merchants, which partners can only read',
} as const;

export const COMMANDS: readonly Command[] = [
  ...partnerCommands,
  ...keyCommands,
  ...appCommands,
  ...merchantCommands,
  ...paymentCommands,
  ...fiatCommands,
  ...systemCommands,
];
