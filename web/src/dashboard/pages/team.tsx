import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { clamp, fill, initialsOf } from '../../shared/text.ts';
import { call, queryText } from '../api.ts';
import type { Person, PersonLink, PersonPage, Role } from '../api-types.ts';
import { useMay, useMerchantNames, useSession } from '../queries.ts';
import { LIMIT_CURRENCIES, LIMIT_PATTERN, limitsFrom, limitText, otherUnits } from '../refund-limits.ts';
import { ROLES } from '../statuses.ts';
import type { Strings } from '../strings/en.ts';
import { DevicesDialog } from '../ui/devices.tsx';
import { currentIn, Difference } from '../ui/difference.tsx';
import { Form } from '../ui/form.tsx';
import { ListState, More } from '../ui/list-state.tsx';
import { MerchantField } from '../ui/merchant-field.tsx';
import { usePages } from '../ui/pages-list.ts';
import { Code, Dialog, Field, FormEnd, Notice, PageHead, Time, useTitle } from '../ui/parts.tsx';
import { QrCode } from '../ui/qr-code.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useChange } from '../ui/use-change.ts';
import { usePageState, useTimes, useWords } from '../words.ts';

const ROLE_WORDS = {
  owner: ['roleOwner', 'roleOwnerText'],
  developer: ['roleDeveloper', 'roleDeveloperText'],
  support: ['roleSupport', 'roleSupportText'],
  bookkeeper: ['roleBookkeeper', 'roleBookkeeperText'],
  cashier: ['roleCashier', 'roleCashierText'],
} as const satisfies Record<Role, readonly [keyof Strings, keyof Strings]>;

type Shown = { readonly person: Person; readonly link: PersonLink };

export function TeamPage() {
  const words = useWords();
  const mayManage = useMay('people:write');
  const [isInviting, setInviting] = useState(false);
  const [shown, setShown] = useState<Shown>();
  useTitle(words.team);
  const list = usePages<PersonPage>(['people'], (cursor) => `/v1/people${queryText({ limit: 100, cursor })}`);
  const people = list.data?.pages.flatMap((page) => page.people);
  return (
    <>
      <PageHead title={words.team}>
        {mayManage && (
          <button type="button" className="main" onClick={() => setInviting(true)}>
            {words.invite}
          </button>
        )}
      </PageHead>
      <Tabs of="team" />
      <ListState error={list.error} count={people?.length} />
      <ul className="people" aria-label={words.people}>
        {people?.map((person) => (
          <PersonRow key={person.id} person={person} mayManage={mayManage} onLink={setShown} />
        ))}
      </ul>
      <More list={list} />
      {isInviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onInvited={(made) => {
            setInviting(false);
            setShown(made);
          }}
        />
      )}
      {shown !== undefined && <LinkDialog shown={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

interface RowProps {
  readonly person: Person;
  readonly mayManage: boolean;
  readonly onLink: (shown: Shown) => void;
}

function PersonRow({ person, mayManage, onLink }: RowProps) {
  const words = useWords();
  const { locale } = usePageState();
  const client = useQueryClient();
  const { person: me } = useSession();
  const [asked, setAsked] = useState<'remove' | 'role' | 'devices'>();
  const { isRunning, problem, run } = useChange();
  const { merchantId } = person;
  const names = useMerchantNames(merchantId === null ? [] : [merchantId]);
  const [roleWord] = ROLE_WORDS[person.role];
  const close = () => setAsked(undefined);
  const relink = () =>
    run(async () => {
      const { link } = await call<{ link: PersonLink }>('POST', `/v1/people/${person.id}/link?language=${locale}`);
      onLink({ person, link });
    });
  const remove = () =>
    run(async () => {
      await call('DELETE', `/v1/people/${person.id}`);
      close();
      await client.invalidateQueries({ queryKey: ['people'] });
    });
  return (
    <li className="person">
      <span className="avatar" aria-hidden="true">
        {initialsOf(person.name)}
      </span>
      <span className="person-names">
        <span>
          <bdi>{clamp(person.name, 60)}</bdi>
          {person.id === me.id && <span className="soft"> ({words.you})</span>}
        </span>
        <bdi className="soft small">{clamp(person.email, 80)}</bdi>
      </span>
      <span className="person-role">
        {words[roleWord]}
        {merchantId !== null && <bdi className="soft small">{clamp(names.get(merchantId) ?? merchantId, 40)}</bdi>}
      </span>
      <span className="soft small person-seen">
        {person.status === 'invited' ? (
          <span className="badge badge-processing">{words.invited}</span>
        ) : person.lastSeenAt === null ? (
          words.never
        ) : (
          <>
            {words.lastSeen} <Time at={person.lastSeenAt} />
          </>
        )}
      </span>
      {mayManage && (
        <span className="person-actions">
          <button type="button" className="quiet small" onClick={() => setAsked('role')}>
            {words.changeRole}
          </button>
          <button type="button" className="quiet small" disabled={isRunning} onClick={() => void relink()}>
            {words.newLink}
          </button>
          <button type="button" className="quiet small" onClick={() => setAsked('devices')}>
            {words.devices}
          </button>
          <button type="button" className="quiet small" onClick={() => setAsked('remove')}>
            {words.remove}
          </button>
        </span>
      )}
      {problem !== undefined && asked === undefined && <Notice kind="bad">{problem}</Notice>}
      {asked === 'remove' && (
        <Dialog title={<Fill text={words.removeTitle} name={clamp(person.name, 40)} />} onClose={close}>
          <p>{words.removeText}</p>
          {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
          <div className="dialog-actions">
            <button type="button" className="quiet" onClick={close}>
              {words.cancel}
            </button>
            <button type="button" className="main" disabled={isRunning} onClick={() => void remove()}>
              {words.remove}
            </button>
          </div>
        </Dialog>
      )}
      {asked === 'devices' && <DevicesDialog person={person} onClose={close} />}
      {asked === 'role' && <RoleDialog person={person} onClose={close} />}
    </li>
  );
}

/** The person's values that somebody else has saved since the dialog was opened. */
type Current = Pick<Person, 'name' | 'role' | 'refundLimits' | 'version'>;

function RoleDialog({ person, onClose }: { readonly person: Person; readonly onClose: () => void }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  // The list behind the dialog may be loaded again meanwhile. The form still has the values of the first version.
  const [before] = useState<Current>(person);
  const [seen, setSeen] = useState(before);
  const isConflict = seen !== before;
  const save = (form: FormData) =>
    run(async () => {
      const body = {
        role: form.get('role'),
        refundLimits: limitsIn(form, seen.refundLimits),
        version: seen.version,
      };
      try {
        await call('PATCH', `/v1/people/${person.id}`, { body });
      } catch (error) {
        // The person who edits has now seen the present values, so the next attempt to save may overwrite them.
        setSeen(currentIn<Current>(error));
        return;
      } finally {
        await client.invalidateQueries({ queryKey: ['people'] });
      }
      onClose();
    });
  return (
    <Dialog title={<bdi>{clamp(person.name, 40)}</bdi>} onClose={onClose}>
      <Form onSend={save}>
        {isConflict && <PersonDifference before={before} now={seen} />}
        <RoleChoice initial={before.role} limits={before.refundLimits} />
        <FormEnd
          label={isConflict ? words.overwrite : words.save}
          isRunning={isRunning}
          problem={problem}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}

function PersonDifference({ before, now }: { readonly before: Current; readonly now: Current }) {
  const words = useWords();
  const roleOf = ({ role }: Current) => words[ROLE_WORDS[role][0]];
  const limits = LIMIT_CURRENCIES.map((currency) => ({
    label: fill(words.refundLimit, { currency }),
    from: limitText(before.refundLimits, currency),
    to: limitText(now.refundLimits, currency),
  }));
  return (
    <Difference
      rows={[
        { label: words.name, from: clamp(before.name, 80), to: clamp(now.name, 80) },
        { label: words.role, from: roleOf(before), to: roleOf(now) },
        ...limits,
      ]}
    />
  );
}

interface InviteProps {
  readonly onClose: () => void;
  readonly onInvited: (shown: Shown) => void;
}

function InviteDialog({ onClose, onInvited }: InviteProps) {
  const words = useWords();
  const { locale } = usePageState();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const invite = (form: FormData) =>
    run(async () => {
      const merchantId = form.get('merchant') || undefined;
      const body = {
        name: form.get('name'),
        email: form.get('email'),
        role: form.get('role'),
        refundLimits: limitsIn(form, null),
        language: locale,
        ...(merchantId !== undefined && { merchantId }),
      };
      const made = await call<Shown>('POST', '/v1/people', { body });
      await client.invalidateQueries({ queryKey: ['people'] });
      onInvited(made);
    });
  return (
    <Dialog title={words.inviteTitle} onClose={onClose}>
      <Form onSend={invite}>
        <Field label={words.name}>{(id) => <input id={id} name="name" required maxLength={200} />}</Field>
        <Field label={words.email}>
          {(id) => <input id={id} name="email" type="email" required maxLength={254} autoComplete="off" />}
        </Field>
        <MerchantField label={words.belongsTo} all={words.wholePartner} />
        <RoleChoice initial="support" limits={null} />
        <FormEnd label={words.invite} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

/** The choice of a role, and of the refund limits for the role support. No other role has refund limits. */
function RoleChoice({ initial, limits }: { readonly initial: Role; readonly limits: Person['refundLimits'] }) {
  const words = useWords();
  const [chosen, setChosen] = useState(initial);
  const kept = otherUnits(limits);
  return (
    <>
      <fieldset className="choices">
        <legend>{words.role}</legend>
        {ROLES.map((each) => {
          const [name, text] = ROLE_WORDS[each];
          return (
            <label key={each}>
              <input type="radio" name="role" value={each} checked={each === chosen} onChange={() => setChosen(each)} />
              <span>
                <span>{words[name]}</span> <span className="soft small">{words[text]}</span>
              </span>
            </label>
          );
        })}
      </fieldset>
      {chosen === 'support' && (
        <div className="limits">
          {LIMIT_CURRENCIES.map((currency) => (
            <Field key={currency} label={fill(words.refundLimit, { currency })}>
              {(id) => (
                <input
                  id={id}
                  name={`limit-${currency}`}
                  inputMode="decimal"
                  pattern={LIMIT_PATTERN}
                  defaultValue={limitText(limits, currency)}
                />
              )}
            </Field>
          ))}
          {kept.length > 0 && <p className="soft small">{fill(words.limitsKept, { units: kept.join(', ') })}</p>}
        </div>
      )}
    </>
  );
}

function limitsIn(form: FormData, before: Person['refundLimits']) {
  if (form.get('role') !== 'support') return null;
  return limitsFrom((currency) => String(form.get(`limit-${currency}`) ?? ''), before);
}

function LinkDialog({ shown: { person, link }, onClose }: { readonly shown: Shown; readonly onClose: () => void }) {
  const words = useWords();
  const times = useTimes();
  const name = clamp(person.name, 40);
  const mailed = link.url === null ? words.linkMailedOnly : words.linkMailed;
  return (
    <Dialog title={<Fill text={words.linkTitle} name={name} />} onClose={onClose}>
      <p>
        {fill(words.linkText, { time: times.full(link.expiresAt) })}{' '}
        {link.isMailed ? <Fill text={mailed} email={clamp(person.email, 80)} /> : words.linkNotMailed}
      </p>
      {link.url !== null && <LinkCodes role={person.role} url={link.url} name={name} />}
      <div className="dialog-actions">
        <button type="button" className="main" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}

function LinkCodes({ role, url, name }: { readonly role: Role; readonly url: string; readonly name: string }) {
  const words = useWords();
  return (
    <>
      {role === 'cashier' && (
        <>
          <p>{words.deviceText}</p>
          <QrCode text={posUrl(url)} label={words.deviceCode} />
          <Code text={posUrl(url)} label={words.deviceCode} />
          <h3>{words.dashboard}</h3>
        </>
      )}
      <Code text={url} label={name} />
    </>
  );
}

/** The point-of-sale URL of a sign-in link. The token of the link also signs in a device at the point of sale. */
function posUrl(url: string): string {
  const { origin, hash } = new URL(url);
  return `${origin}/pos${hash}`;
}
