import { registerApp, unregisterApp } from '../actions/parties/register-app.ts';
import { MODES } from '../domain/mode.ts';
import { listWalletApps } from '../store/parties/wallet-apps.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { httpsUrl, id, oneOf, text } from './kinds.ts';
import { listing } from './listing.ts';
import { optional, required } from './options.ts';
import { layoutFields } from './table.ts';

const create = databaseCommand({
  name: 'apps create',
  summary: 'Register a wallet app. The wallet sends its id as App-Id.',
  options: {
    name: required(text, 'The name of the wallet that partners see at a payment.'),
    mode: required(oneOf(MODES), 'What it pays: test or live payments.'),
    'icon-url': optional(httpsUrl, 'The icon shown beside the name.'),
  },
  examples: ['apps create --name "Example Wallet" --mode test --icon-url https://wallet.example/icon.png'],
  run: async (deps, { name, mode, 'icon-url': iconUrl }) => {
    const app = await registerApp(deps, { actor: operatorOf(deps.config), name, mode, iconUrl: iconUrl ?? null });
    const fields = layoutFields({ id: app.id, name: app.name, mode: app.mode, icon: app.iconUrl });
    return { json: app, text: `Wallet app registered.\n\n${fields}` };
  },
});

const list = databaseCommand({
  name: 'apps list',
  summary: 'Show all wallet apps.',
  examples: ['apps list'],
  run: async ({ db }) =>
    listing(await listWalletApps(db.sql), {
      columns: [
        { title: 'id', cell: (app) => app.id },
        { title: 'mode', cell: (app) => app.mode },
        { title: 'name', cell: (app) => app.name },
        { title: 'created', cell: (app) => app.createdAt },
        { title: 'icon', cell: (app) => app.iconUrl },
      ],
      empty: 'No wallet apps yet.',
    }),
});

const remove = databaseCommand({
  name: 'apps remove',
  summary: 'Refuse a wallet app from now on.',
  positionals: { id: required(id, 'The app, as shown by apps list.') },
  examples: ['apps remove app_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: appId }) => {
    await unregisterApp(deps, { actor: operatorOf(deps.config), appId });
    return { json: { id: appId, removed: true }, text: `Wallet app ${appId} removed.` };
  },
});

export const appCommands: readonly Command[] = [create, list, remove];
