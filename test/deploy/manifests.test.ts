import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { SETTINGS } from '../../src/settings/config.ts';
import { missingProgram, programPath } from '../debian-program.ts';
import { type Document, kubernetesProblems, openSchemas, type Schemas } from './published-schemas.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const KUBECTL = { names: ['kubectl'], debianPackage: 'kubernetes-client' };
const ENVIRONMENT: ReadonlySet<string> = new Set(Object.values(SETTINGS).map(({ env }) => env));
/** Made by the operator: no part of the kit. */
const OWN_FILES = ['till.env'];
/** What a cluster gives `DATABASE_URL` its password by. */
const NO_SETTINGS = ['DATABASE_PASSWORD_OF_CLUSTER'];

const opened = await openSchemas();
const skip = 'missing' in opened && opened.missing;
const schemas = opened as Schemas;

describe('the files for Compose', { skip }, () => {
  const files = new Map<string, Document>();
  before(async () => {
    const names = (await readdir(join(DEPLOY, 'compose'))).filter((name) => name.endsWith('.yml'));
    // Compose replaces or removes what these tags mark, instead of merging it.
    const customTags = ['!override', '!reset'].flatMap((tag) => [
      { tag, collection: 'map', resolve: (value: Document) => value },
      { tag, collection: 'seq', resolve: (value: Document) => value },
      { tag, resolve: () => null },
    ]);
    for (const name of names) {
      const text = await readFile(join(DEPLOY, 'compose', name), 'utf8');
      files.set(name, schemas.parse(text, { merge: true, customTags }));
    }
  });
  const composed = () => [...files].filter(([, document]) => document.services !== undefined);
  const services = () =>
    composed().flatMap(([name, { services }]) =>
      Object.entries(services as Record<string, Document>).flatMap(([service, body]) =>
        body === null ? [] : [{ name, service, body }],
      ),
    );

  it('satisfy the published schema', async () => {
    assert.deepEqual(
      composed().map(([name]) => name),
      ['compose.yml', 'external-database.yml', 'observability.yml', 'two-nodes.yml'],
    );
    const ajv = new schemas.Ajv2019({ strict: false, validateFormats: false });
    // It is written for an older dialect, whose names of schemas were `id`.
    const text = JSON.stringify(schemas.composeSchema, (key, value) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
    );
    const schema = JSON.parse(text);
    const validate = ajv.compile(schema);
    for (const [name, document] of composed()) {
      // A service that an overlay removes.
      const kept = Object.entries(document.services).filter(([, body]) => body !== null);
      // `name` is newer than the published schema.
      const withoutTags = JSON.parse(
        JSON.stringify({ ...document, name: undefined, services: Object.fromEntries(kept) }),
      );
      for (const body of Object.values(withoutTags.services) as Document[])
        if (body.depends_on === null) delete body.depends_on;
      assert.ok(validate(withoutTags), `${name}: ${JSON.stringify(validate.errors)}`);
    }
    assert.ok(!validate({ services: { gateway: { image: 'till', read_onyl: true } } }), 'a misspelt field is refused');
  });

  it('give gateways settings that exist', () => {
    const gateways = services().filter(({ service }) => service.startsWith('gateway'));
    assert.ok(gateways.length >= 3);
    const given = gateways.flatMap(({ body }) => Object.keys(body.environment ?? {}));
    assert.ok(given.includes('DATABASE_URL'));
    assert.deepEqual(
      given.filter((name) => !ENVIRONMENT.has(name)),
      [],
    );
  });

  it('mount files that are there', () => {
    const mounted = services().flatMap(({ body }) => [
      ...(body.volumes ?? [])
        .map((volume: string) => volume.split(':')[0])
        .filter((path: string) => path.startsWith('.')),
      ...(body.env_file ?? []),
      ...(body.extends?.file === undefined ? [] : [body.extends.file]),
    ]);
    assert.ok(mounted.length >= 6);
    assert.deepEqual(
      mounted.filter((path) => !OWN_FILES.includes(path) && !existsSync(join(DEPLOY, 'compose', path))),
      [],
    );
  });

  it('start every gateway without rights on a root that cannot be written', () => {
    const { body } = services().find(({ name, service }) => name === 'compose.yml' && service === 'gateway') ?? {
      body: {},
    };
    assert.deepEqual(
      [body.read_only, body.user, body.cap_drop, body.security_opt],
      [true, '10001:10001', ['ALL'], ['no-new-privileges:true']],
    );
    const published = services().flatMap(({ service, body }) =>
      (body.ports ?? []).map((port: string) => `${service} ${port}`),
    );
    assert.deepEqual(
      published.filter((port) => !/^caddy |127\.0\.0\.1/.test(port)),
      [],
      'only Caddy is reached from outside',
    );
  });

  it('name every variable that they ask for in the guide', async () => {
    const guide = await readFile(join(DEPLOY, '../docs/deploying.md'), 'utf8');
    const asked = new Set<string>();
    for (const [name] of composed()) {
      const text = await readFile(join(DEPLOY, 'compose', name), 'utf8');
      for (const [, variable = ''] of text.matchAll(/\$\{(\w+)[:}-]/g)) asked.add(variable);
    }
    assert.ok(asked.size >= 4);
    assert.deepEqual(
      [...asked].filter((variable) => !guide.includes(`\`${variable}\``)),
      [],
    );
  });
});

const kubernetes = { skip: skip || missingProgram(KUBECTL) };

describe('the manifests for Kubernetes', kubernetes, () => {
  const overlays = ['base', 'overlays/external-database', 'overlays/cloudnative-pg'];
  const rendered = new Map<string, Document[]>();
  before(() => {
    for (const overlay of overlays) {
      const text = execFileSync(programPath(KUBECTL) ?? '', ['kustomize', join(DEPLOY, 'kubernetes', overlay)], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
      rendered.set(
        overlay,
        schemas.parseAllDocuments(text).map((document: Document) => document.toJS()),
      );
    }
  });
  const objects = (kind: string) => [...rendered.values()].flat().filter((document) => document.kind === kind);

  it('satisfy the published schemas, with known fields alone', async () => {
    for (const overlay of overlays) {
      const documents = rendered.get(overlay) ?? [];
      assert.ok(documents.length >= 7, overlay);
      assert.deepEqual(await kubernetesProblems(schemas, documents), [], overlay);
    }
  });

  it('would be refused for a wrong value or a misspelt field', async () => {
    const [deployment] = objects('Deployment');
    const wrong = { ...deployment, spec: { ...deployment.spec, replicas: 'two' } };
    const misspelt = { ...deployment, spec: { ...deployment.spec, minReadySecond: 5 } };
    assert.ok((await kubernetesProblems(schemas, [wrong])).length > 0);
    assert.match((await kubernetesProblems(schemas, [misspelt])).join(), /minReadySecond/);
  });

  it('start gateways without rights, with probes, and take no secret from a file', () => {
    const deployments = objects('Deployment');
    assert.equal(deployments.length, overlays.length);
    for (const { spec } of deployments) {
      assert.deepEqual(spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
      const pod = spec.template.spec;
      assert.deepEqual([pod.securityContext.runAsNonRoot, pod.securityContext.runAsUser], [true, 10_001]);
      const [container] = pod.containers;
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.deepEqual(
        [container.readinessProbe, container.livenessProbe, container.startupProbe].map((probe) => probe.httpGet.path),
        ['/ready', '/health', '/health'],
      );
      assert.ok(container.envFrom.some(({ secretRef }: Document) => secretRef?.name === 'till'));
    }
    assert.equal(objects('Secret').length, 0);
  });

  it('name settings that exist', () => {
    const names = [
      ...objects('ConfigMap').flatMap(({ data }) => Object.keys(data)),
      ...objects('Deployment').flatMap(({ spec }) =>
        (spec.template.spec.containers[0].env ?? []).map(({ name }: Document) => name),
      ),
    ];
    assert.ok(names.includes('PUBLIC_URL') && names.includes('DATABASE_URL'));
    assert.deepEqual(
      names.filter((name) => !ENVIRONMENT.has(name) && !NO_SETTINGS.includes(name)),
      [],
    );
  });

  it('select the pods of the gateway and no others', () => {
    const own = { 'app.kubernetes.io/name': 'till' };
    for (const { spec } of [...objects('Deployment'), ...objects('PodDisruptionBudget')]) {
      assert.deepEqual(spec.selector.matchLabels, own);
    }
    for (const { spec } of objects('NetworkPolicy')) assert.deepEqual(spec.podSelector.matchLabels, own);
    for (const { spec } of objects('Service')) assert.deepEqual(spec.selector, own);
    for (const { spec } of objects('Deployment')) assert.deepEqual(spec.template.metadata.labels, own);
  });
});
