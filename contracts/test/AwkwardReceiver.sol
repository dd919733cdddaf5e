// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A contract that is paid in native coin, for tests: it refuses, returns too much data, calls back with the coin, burns all
/// gas, forces a part of the coin back, or needs as much gas as a wallet with modules.
contract AwkwardReceiver {
    enum Quirk {
        Refuses,
        AnswersMegabyte,
        Reenters,
        BurnsGas,
        ForcesBack,
        NeedsGas
    }

    Quirk private immutable quirk;
    bytes private reentry;
    uint256[4] private written;

    constructor(Quirk quirk_, bytes memory reentry_) {
        quirk = quirk_;
        reentry = reentry_;
    }

    receive() external payable {
        require(quirk != Quirk.Refuses, "AwkwardReceiver: no");
        if (quirk == Quirk.AnswersMegabyte) {
            assembly {
                return(0, 0x100000)
            }
        }
        if (quirk == Quirk.BurnsGas) while (true) {}
        if (quirk == Quirk.ForcesBack) {
            // The code destroys its contract as it is created, and so forces the coin on an account that refuses coin.
            bytes memory code = abi.encodePacked(hex"73", msg.sender, hex"ff");
            assembly {
                pop(create(1, add(code, 0x20), mload(code)))
            }
            return;
        }
        if (quirk == Quirk.NeedsGas) {
            for (uint256 slot = 0; slot < written.length; ++slot) ++written[slot];
            return;
        }
        (bool isDone,) = msg.sender.call{value: msg.value}(reentry);
        require(isDone, "AwkwardReceiver: kept out");
    }
}
