import { changePartner } from '../actions/parties/change-partner.ts';
import { createPartner } from '../actions/parties/create-partner.ts';
import { acceptedText, modeOfAccepted } from '../chains/accepted-entry.ts';
import type { Registry } from '../chains/registry.ts';
import { MODES } from '../domain/mode.ts';
import { listPartners, type Partner } from '../store/parties/partners.ts';
import { accept, acceptedByMode } from './accepted-lists.ts';
import { type Command, databaseCommand, type Output, operatorOf } from './command.ts';
import { frameOrigin, id, oneOf, text, version } from './kinds.ts';
import { listing } from './listing.ts';
import { flag, optional, repeated, required } from './options.ts';
import { layoutFields } from './table.ts';

const MAX_FRAME_ORIGINS = 50;

const partnerId = required(id, 'The partner, as shown by partners list.');

export const create = databaseCommand({
  name: 'partners create',
  summary: 'Add a partner. Give it a key with keys create.',
  options: { name: required(text, 'The name of the partner.') },
  examples: ['partners create --name "Shop Ltd"'],
  run: async (deps, { name }) => {
    const partner = await createPartner(deps, { actor: operatorOf(deps.config), name });
    const next = `Next: npm run till -- keys create --partner ${partner.id} --mode test --label <text>`;
    return { json: partner, text: `Partner created.\n\n${describe(deps.registry, partner)}\n\n${next}` };
  },
});

const list = databaseCommand({
  name: 'partners list',
  summary: 'Show all partners.',
  examples: ['partners list', 'partners list --json'],
  run: async ({ db }) =>
    listing(await listPartners(db.sql), {
      columns: [
        { title: 'id', cell: (partner) => partner.id },
        { title: 'name', cell: (partner) => partner.name },
        { title: 'status', cell: status },
        { title: 'version', cell: (partner) => partner.pinnedVersion },
        { title: 'created', cell: (partner) => partner.createdAt },
        { title: 'frame origins', cell: (partner) => partner.frameOrigins.join(', ') },
      ],
      empty: 'No partners yet.',
    }),
});

const set = databaseCommand({
  name: 'partners set',
  summary: 'Change a partner. Options that are not given stay unchanged.',
  positionals: { id: partnerId },
  options: {
    name: optional(text, 'The new name.'),
    pin: optional(version, 'The API version its requests get without a Pay-Version header; it only moves forward.'),
    'frame-origin': repeated(
      frameOrigin,
      MAX_FRAME_ORIGINS,
      'Origin that may show the checkout in a frame; replaces those allowed before.',
    ),
    'no-frame-origins': flag('Forbid showing the checkout in a frame.'),
    accept,
    'accept-all': repeated(oneOf(MODES), MODES.length, 'Accept every asset again, for payments of this mode.'),
  },
  examples: [
    'partners set prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --name "Shop Group"',
    'partners set prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --frame-origin https://shop.example --frame-origin https://b.example',
    'partners set prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --accept eip155:8453/USDC --accept eip155:10',
    'partners set prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --accept-all live',
  ],
  check: (
    { name, pin, 'frame-origin': origins, 'no-frame-origins': isNone, accept: ids, 'accept-all': all },
    registry,
  ) => {
    if (isNone && origins.length > 0) return ['--frame-origin and --no-frame-origins exclude each other'];
    const twice = all.find((mode) => ids.some((id) => modeOfAccepted(registry, id) === mode));
    if (twice !== undefined) return [`--accept-all ${twice} and --accept of a ${twice} network exclude each other`];
    const isAccepting = ids.length > 0 || all.length > 0;
    const isNothing = name === undefined && pin === undefined && origins.length === 0 && !isNone && !isAccepting;
    return isNothing ? ['there is nothing to change: give at least one option'] : [];
  },
  run: async (deps, values) => {
    const { id: partner, name, pin, 'frame-origin': origins, 'no-frame-origins': isNone, accept: ids } = values;
    const accepted = {
      ...Object.fromEntries(values['accept-all'].map((mode) => [mode, null])),
      ...(await acceptedByMode(deps, ids)),
    };
    const changes = {
      ...(name !== undefined && { name }),
      ...(pin !== undefined && { pinnedVersion: pin }),
      ...((isNone || origins.length > 0) && { frameOrigins: origins }),
      ...(Object.keys(accepted).length > 0 && { accepted }),
    };
    return changed(
      deps.registry,
      'Partner changed.',
      await changePartner(deps, { actor: operatorOf(deps.config), partnerId: partner, changes }),
    );
  },
});

const disable = databaseCommand({
  name: 'partners disable',
  summary: 'Refuse all keys of a partner until it is enabled again.',
  positionals: { id: partnerId },
  examples: ['partners disable prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: partner }) => {
    const changes = { isDisabled: true };
    const result = await changePartner(deps, { actor: operatorOf(deps.config), partnerId: partner, changes });
    return changed(deps.registry, 'Partner disabled: every node refuses its keys within five seconds.', result);
  },
});

const enable = databaseCommand({
  name: 'partners enable',
  summary: 'Accept the keys of a disabled partner again.',
  positionals: { id: partnerId },
  examples: ['partners enable prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: partner }) => {
    const changes = { isDisabled: false };
    return changed(
      deps.registry,
      'Partner enabled.',
      await changePartner(deps, { actor: operatorOf(deps.config), partnerId: partner, changes }),
    );
  },
});

export const partnerCommands: readonly Command[] = [create, list, set, disable, enable];

function changed(registry: Registry, sentence: string, partner: Partner): Output {
  return { json: partner, text: `${sentence}\n\n${describe(registry, partner)}` };
}

function describe(registry: Registry, partner: Partner): string {
  return layoutFields({
    id: partner.id,
    name: partner.name,
    status: status(partner),
    version: partner.pinnedVersion,
    'frame origins': partner.frameOrigins.join(', '),
    'accepted (test)': acceptedText(registry, partner.accepted.test),
    'accepted (live)': acceptedText(registry, partner.accepted.live),
  });
}

function status({ disabledAt }: Partner): string {
  return disabledAt === null ? 'enabled' : 'disabled';
}
