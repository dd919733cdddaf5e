// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// A wallet contract for tests: it accepts its owner's signatures (ERC-1271), unless it is configured to misbehave.
contract TestWallet {
    enum Quirk {
        None,
        BurnsGas,
        Reenters,
        AnswersMegabyte
    }

    address private immutable owner;
    Quirk private immutable quirk;
    address private immutable target;

    constructor(address owner_, Quirk quirk_, address target_) {
        owner = owner_;
        quirk = quirk_;
        target = target_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external returns (bytes4) {
        if (quirk == Quirk.BurnsGas) while (true) {}
        if (quirk == Quirk.AnswersMegabyte) {
            assembly {
                return(0, 0x100000)
            }
        }
        if (quirk == Quirk.Reenters) {
            (bool isDone,) = target.call(signature);
            require(isDone, "TestWallet: kept out");
        }
        return ECDSA.recoverCalldata(hash, signature) == owner ? this.isValidSignature.selector : bytes4(0);
    }

    function execute(address to, bytes calldata data) external {
        require(msg.sender == owner);
        (bool isDone,) = to.call(data);
        require(isDone);
    }
}
