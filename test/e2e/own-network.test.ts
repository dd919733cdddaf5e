import { it } from 'node:test';
import { installNode } from '../chains/nodes/install-node.ts';
import { ownInstallation } from '../node-process.ts';
import { describeOwnNetwork } from './own-network-suite.ts';

const TITLE = 'a network of the operator’s own, from an empty folder';

const hardhat = await installNode('hardhat');
if ('missing' in hardhat) it(TITLE, { skip: hardhat.missing });
else describeOwnNetwork(TITLE, hardhat, async (folder) => ownInstallation(folder));
